"""Gemini Interactions, streamed: what the events make, and what is refused for want of an end."""

import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters import strict_json
from adapters.envelopes import gemini_interactions
from adapters.envelopes.envelope import HostedCall, ReadTurn
from tests.unit.gemini_reads import (
    call_step,
    completed,
    created,
    event,
    interaction,
    streamed_call,
    streamed_step,
)
from tests.unit.three_reads import PROPOSALS
from workflows.domain.errors import Detail, ResponseRefused
from workflows.domain.proposal import Proposal

EXAMPLES = settings(max_examples=60, deadline=None)

WEATHER, STOCK, NEWS = (call_step(proposal) for proposal in PROPOSALS)
CALL = {"type": "function_call", "id": "c", "name": "list_orders"}
THOUGHT = {"type": "thought"}
SIGNED = {"type": "thought_signature", "signature": "c2lnbmVk"}


def read_stream(*events: Any) -> ReadTurn:
    return gemini_interactions.read_stream(list(events))


def refusal(*events: Any) -> tuple[str, Detail]:
    with pytest.raises(ResponseRefused) as refused:
        read_stream(*events)
    [detail] = refused.value.details
    return refused.value.code, detail


def code_of(*events: Any) -> str:
    return refusal(*events)[0]


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def pieces(*arguments: Any) -> list[dict[str, Any]]:
    return [{"type": "arguments_delta", "arguments": piece} for piece in arguments]


def read_call(*deltas: dict[str, Any], **start: Any) -> ReadTurn:
    return read_stream(created(), *streamed_step(0, CALL | start, *deltas), completed())


def assembled(start: dict[str, Any], *deltas: dict[str, Any]) -> dict[str, Any]:
    """The step that a stream makes, as the conversation is to hold it."""
    [echo] = read_stream(created(), *streamed_step(0, start, *deltas), completed("completed")).echo
    return echo


# ── whole streams ──


def test_calls_are_put_together_from_pieces_of_json() -> None:
    turn = read_stream(
        created(),
        event("interaction.status_update", interaction_id="int-17", status="in_progress"),
        *streamed_step(0, THOUGHT, SIGNED),
        *streamed_call(1, PROPOSALS[0], cuts=(1, 9, 9)),
        *streamed_call(2, PROPOSALS[1]),
        event("interaction.status_update", interaction_id="int-17", status="requires_action"),
        completed(),
    )
    assert turn.proposals == PROPOSALS[:2]
    assert (turn.surface, turn.request_id) == ("gemini-interactions", "int-17")
    assert turn.echo == ({"type": "thought", "signature": "c2lnbmVk"}, WEATHER, STOCK)


def test_steps_may_be_open_side_by_side() -> None:
    first, second = streamed_call(0, PROPOSALS[0], cuts=()), streamed_call(1, PROPOSALS[1], cuts=())
    mixed = [event for both in zip(first, second, strict=True) for event in both]
    assert read_stream(created(), *mixed, completed()).proposals == PROPOSALS[:2]


def test_a_stream_leaves_its_events_as_they_were() -> None:
    start = {"type": "model_output", "content": [text("It ")]}
    annotated = {"type": "text_annotation_delta", "annotations": [{"type": "url_citation"}]}
    events = [
        created(),
        *streamed_step(0, start, text("is"), annotated, text(" 22.")),
        *streamed_step(1, {**CALL, "arguments": {}}, *pieces('{"a":1}')),
        *streamed_step(2, {"type": "google_search_call", "id": "g"}, {"type": "google_search_call", "arguments": {}}),
        completed(),
    ]
    before = copy.deepcopy(events)
    read_stream(*events)
    assert events == before


@pytest.mark.parametrize(
    "events",
    [
        [],
        [created()],
        [created(), *streamed_call(0, PROPOSALS[0])],
        [created(), *streamed_call(0, PROPOSALS[0])[:-1], completed()],
        [created(), *streamed_call(0, PROPOSALS[0])[:1], completed()],
        [event("interaction.status_update", interaction_id="int-17", status="requires_action")],
        [created(), *streamed_call(0, PROPOSALS[0]), completed(), event("error", error={"code": "unavailable"})],
        [created(), event("error"), completed("completed")],
        [created(), *streamed_call(0, PROPOSALS[0]), created("int-18"), completed(interaction_id="int-18")],
    ],
)
def test_a_stream_that_was_cut_or_broken_off_runs_nothing(events: list[dict[str, Any]]) -> None:
    assert code_of(*events) == "incomplete_response"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("incomplete", "incomplete_response"),
        ("failed", "incomplete_response"),
        ("completed", "unknown_stop_signal"),
        ("soon_to_be_invented", "unknown_stop_signal"),
        (None, "malformed_envelope"),
    ],
)
def test_the_end_of_a_stream_is_judged_as_that_of_a_whole_interaction(status: Any, code: str) -> None:
    assert code_of(created(), *streamed_call(0, PROPOSALS[0]), completed(status)) == code


def test_a_stream_may_begin_in_the_middle_and_number_its_steps_from_there() -> None:
    turn = read_stream(*streamed_call(3, PROPOSALS[0]), *streamed_call(4, PROPOSALS[1]), completed())
    assert turn.proposals == PROPOSALS[:2]


def test_events_that_concern_no_step_may_be_unknown() -> None:
    heartbeat, noted = event("ping"), event("interaction.noted", id=7)
    turn = read_stream(heartbeat, created(), noted, *streamed_call(0, PROPOSALS[0]), completed(), heartbeat)
    assert turn.proposals == PROPOSALS[:1]


# ── events that do not fit together ──

STARTED = streamed_call(0, PROPOSALS[0])


@pytest.mark.parametrize(
    ("events", "detail", "path"),
    [
        ([created("int-17"), *STARTED, completed(interaction_id="int-18")], "two_responses", "/5"),
        (
            [created(), event("interaction.status_update", interaction_id="int-18", status="queued")],
            "two_responses",
            "/1",
        ),
        ([created(), completed("completed"), created()], "two_responses", "/2"),
        ([created(), *STARTED, *STARTED], "out_of_order", "/5/index"),
        ([created(), *STARTED, *streamed_call(2, PROPOSALS[1])], "out_of_order", "/5/index"),
        ([created(), *streamed_call(1, PROPOSALS[0]), *STARTED], "out_of_order", "/5/index"),
        ([event("step.start", index="0", step=CALL)], "out_of_order", "/0/index"),
        ([event("step.start", step=CALL)], "out_of_order", "/0/index"),
        ([STARTED[1]], "step_not_open", "/0/index"),
        ([STARTED[3]], "step_not_open", "/0/index"),
        ([*STARTED, STARTED[1]], "step_not_open", "/4/index"),
        ([*STARTED, STARTED[3]], "step_not_open", "/4/index"),
        ([*STARTED, event("step.stop", index=[0])], "step_not_open", "/4/index"),
        ([*STARTED, completed(), *streamed_call(1, PROPOSALS[1])], "after_the_end", "/5"),
        ([*STARTED, completed(), completed()], "after_the_end", "/5"),
        ([*STARTED, event("step.replace", index=0)], "unknown_event", "/4/event_type"),
        ([{"index": 0}], "missing", "/0/event_type"),
        (["text"], "wrong_type", "/0"),
        ([event("interaction.created")], "wrong_type", "/0/interaction"),
        ([event("interaction.completed", interaction="int-17")], "wrong_type", "/0/interaction"),
        ([event("step.start", index=0, step="text")], "wrong_type", "/0/step"),
        ([STARTED[0], event("step.delta", index=0, delta="text")], "wrong_type", "/1/delta"),
        ([STARTED[0], event("step.delta", index=0, delta={})], "missing", "/steps/0/type"),
    ],
)
def test_events_that_do_not_fit_together_refuse_the_stream(events: list[Any], detail: str, path: str) -> None:
    code, found = refusal(*events)
    assert (code, found.code, found.path) == ("malformed_envelope", detail, path)


@pytest.mark.parametrize("status", ["completed", "failed", "requires_continuation"])
def test_a_last_word_on_the_status_must_be_that_of_the_end(status: str) -> None:
    update = event("interaction.status_update", interaction_id="int-17", status=status)
    code, detail = refusal(created(), *STARTED, update, completed())
    assert (code, detail.code) == ("malformed_envelope", "two_ends")


@pytest.mark.parametrize("status", ["in_progress", "queued", "requires_action"])
def test_a_status_before_the_end_is_no_contradiction(status: str) -> None:
    earlier = event("interaction.status_update", interaction_id="int-17", status="failed")
    update = event("interaction.status_update", interaction_id="int-17", status=status)
    assert read_stream(created(), earlier, update, *STARTED, completed()).proposals == PROPOSALS[:1]


def test_the_tokens_that_an_interaction_took_come_with_its_end() -> None:
    usage = {"total_output_tokens": 20, "total_thought_tokens": 3}
    assert read_stream(created(), *STARTED, completed(usage=usage)).spent.tokens == 23
    assert read_stream(created(), *STARTED, completed()).spent.tokens is None


def test_a_stream_is_a_list() -> None:
    with pytest.raises(ResponseRefused):
        gemini_interactions.read_stream({"event_type": "error"})  # type: ignore[arg-type]


# ── the last event with the steps themselves ──


def test_the_steps_of_the_last_event_count_when_none_were_streamed() -> None:
    assert read_stream(created(), completed(steps=[WEATHER])).proposals == PROPOSALS[:1]


def test_the_steps_of_the_last_event_may_hold_more_than_was_streamed() -> None:
    whole = {**WEATHER, "unheard_of": 1}
    assert read_stream(created(), *STARTED, completed(steps=[whole])).echo == (whole,)


@pytest.mark.parametrize("nothing", [{}, {"steps": None}, {"steps": []}])
def test_a_last_event_without_steps_leaves_those_that_were_streamed(nothing: dict[str, Any]) -> None:
    assert read_stream(created(), *STARTED, completed(**nothing)).proposals == PROPOSALS[:1]


@pytest.mark.parametrize(
    "steps",
    [
        [STOCK],
        [WEATHER, STOCK],
        [{**WEATHER, "id": "call-other"}],
        [{**WEATHER, "name": "get_stock"}],
        [{**WEATHER, "arguments": {"city": "Busan", "unit": "celsius"}}],
        [{**WEATHER, "signature": "b3RoZXI="}],
    ],
)
def test_steps_that_were_streamed_otherwise_refuse_the_response(steps: list[dict[str, Any]]) -> None:
    code, detail = refusal(created(), *STARTED, completed(steps=steps))
    assert (code, detail.code, detail.path) == ("malformed_envelope", "two_versions", "/steps")


# ── one stream over several interactions ──


def test_a_client_that_goes_on_has_the_steps_of_all_and_the_end_of_the_last() -> None:
    turn = read_stream(
        created(),
        *streamed_step(0, THOUGHT, SIGNED),
        completed("requires_continuation"),
        created("int-18"),
        *streamed_call(0, PROPOSALS[0]),
        completed("requires_action", "int-18"),
    )
    assert (turn.request_id, turn.proposals, turn.paused) == ("int-18", PROPOSALS[:1], False)
    assert turn.echo == ({"type": "thought", "signature": "c2lnbmVk"}, WEATHER)


def test_the_place_of_a_step_counts_the_steps_of_earlier_interactions() -> None:
    spoilt = streamed_step(0, CALL, *pieces("{"))
    first = [created(), *streamed_step(0, THOUGHT), *streamed_step(1, THOUGHT), completed("requires_continuation")]
    second = [created("int-18"), *streamed_step(0, THOUGHT), completed("requires_continuation", "int-18")]
    _, detail = refusal(*first, *second, created("int-19"), *spoilt, completed("requires_action", "int-19"))
    assert detail.path == "/steps/3/arguments"


def test_a_stream_that_ends_where_it_could_go_on_is_paused() -> None:
    turn = read_stream(created(), *STARTED, completed("requires_continuation", continuation_token="tok"))
    assert (turn.paused, turn.proposals, turn.echo) == (True, (), (WEATHER,))


def test_a_continuation_without_its_own_end_was_cut() -> None:
    assert code_of(completed("requires_continuation"), created("int-18")) == "incomplete_response"


# ── arguments ──


@pytest.mark.parametrize("start", [{}, {"arguments": None}, {"arguments": {}}])
@pytest.mark.parametrize("deltas", [[], pieces(""), pieces(None), pieces("{", "}"), [{"type": "arguments_delta"}]])
def test_a_call_without_arguments_has_an_empty_object(start: dict[str, Any], deltas: list[dict[str, Any]]) -> None:
    turn = read_call(*deltas, **start)
    assert turn.proposals == (Proposal("c", "list_orders", {}),)
    assert turn.echo == ({**CALL, "arguments": {}},)


@pytest.mark.parametrize("deltas", [[], pieces('{"page":2}')])
def test_arguments_may_come_with_the_start(deltas: list[dict[str, Any]]) -> None:
    assert read_call(*deltas, arguments={"page": 2}).proposals == (Proposal("c", "list_orders", {"page": 2}),)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"page":', "not_json"),
        ('{"page":1,"p\\u0061ge":2}', "duplicate_key"),
        ('{"page":1e400}', "number_overflow"),
        ('{"t":"\\ud83d"}', "lone_surrogate"),
        ("[]", "wrong_type"),
        ("null", "wrong_type"),
        ('"{}"', "wrong_type"),
    ],
)
def test_arguments_that_are_no_strict_object_refuse_the_response(text: str, detail: str) -> None:
    code, found = refusal(created(), *streamed_step(0, CALL, *pieces(text)), completed())
    assert (code, found.code, found.path) == ("malformed_tool_calls", detail, "/steps/0/arguments")


def test_a_piece_that_is_no_text_refuses_the_response() -> None:
    code, detail = refusal(created(), *streamed_step(0, CALL, *pieces("{", {})), completed())
    assert (code, detail.code) == ("malformed_tool_calls", "wrong_type")


def test_a_start_that_says_other_arguments_refuses_the_response() -> None:
    start = {**CALL, "arguments": {"page": 1}}
    code, detail = refusal(created(), *streamed_step(0, start, *pieces('{"page":2}')), completed())
    assert (code, detail.code) == ("malformed_tool_calls", "two_arguments")


def test_numbers_of_streamed_arguments_are_exact() -> None:
    [proposal] = read_call(*pieces('{"id":90071992547', '40993,"rate":0.10}')).proposals
    assert strict_json.dump(proposal.arguments) == '{"id":9007199254740993,"rate":0.10}'


# ── other deltas ──


def test_text_goes_on_in_the_last_item_and_keeps_its_annotations() -> None:
    cited, cited_again = {"type": "url_citation", "url": "a"}, {"type": "url_citation", "url": "b"}
    step = assembled(
        {"type": "model_output", "content": [text("It ")]},
        {**text("is"), "spoken": True},
        {"type": "text_annotation_delta", "annotations": [cited]},
        {"type": "text_annotation_delta"},
        {**text(" 22"), "language": "en"},
        {"type": "text_annotation_delta", "annotations": [cited_again]},
        {"type": "image", "data": "AAEC", "mime_type": "image/png"},
        text("degrees"),
    )
    assert step == {
        "type": "model_output",
        "content": [
            {
                "type": "text",
                "text": "It is 22",
                "spoken": True,
                "language": "en",
                "annotations": [cited, cited_again],
            },
            {"type": "image", "data": "AAEC", "mime_type": "image/png"},
            {"type": "text", "text": "degrees"},
        ],
    }


def test_a_thought_has_its_summary_and_its_signature() -> None:
    summary = [{"type": "thought_summary", "content": text(said)} for said in ("Three", " reads.")]
    assert assembled(THOUGHT, *summary, {"type": "thought_summary"}, SIGNED, SIGNED) == {
        "type": "thought",
        "summary": [{"type": "text", "text": "Three reads."}],
        "signature": "c2lnbmVk",
    }


def test_a_signature_may_come_on_any_step_and_with_the_start() -> None:
    turn = read_call(SIGNED, *pieces("{}"), {"type": "thought_signature"})
    assert turn.echo == ({**CALL, "arguments": {}, "signature": "c2lnbmVk"},)
    assert assembled({**THOUGHT, "signature": "c2lnbmVk"}, SIGNED)["signature"] == "c2lnbmVk"


@pytest.mark.parametrize("start", [{"signature": "b3RoZXI="}, {}])
def test_two_signatures_cannot_both_be_sent_back(start: dict[str, Any]) -> None:
    other = {"type": "thought_signature", "signature": "b3RoZXI="}
    code, detail = refusal(created(), *streamed_step(0, THOUGHT | start, SIGNED, other), completed("completed"))
    assert (code, detail.code) == ("malformed_envelope", "two_signatures")


def test_the_providers_own_steps_grow_by_the_members_of_their_deltas() -> None:
    turn = read_stream(
        created(),
        *streamed_step(
            0,
            {"type": "mcp_server_tool_call", "id": "m1", "name": "ask", "server_name": "wiki", "arguments": {}},
            {"type": "mcp_server_tool_call", "name": "ask", "server_name": None, "arguments": {"q": "ACME"}},
        ),
        *streamed_step(
            1,
            {"type": "mcp_server_tool_result", "call_id": "m1", "result": "4"},
            {"type": "mcp_server_tool_result", "result": "2", "name": "ask", "server_name": None},
        ),
        *streamed_step(
            2,
            {"type": "google_search_result", "call_id": "g1", "result": [{"title": "a"}]},
            {"type": "google_search_result", "result": [{"title": "b"}], "is_error": True, "signature": "Zw=="},
        ),
        completed("completed"),
    )
    assert turn.echo == (
        {"type": "mcp_server_tool_call", "id": "m1", "name": "ask", "server_name": "wiki", "arguments": {"q": "ACME"}},
        {"type": "mcp_server_tool_result", "call_id": "m1", "result": "42", "name": "ask", "server_name": None},
        {
            "type": "google_search_result",
            "call_id": "g1",
            "result": [{"title": "a"}, {"title": "b"}],
            "is_error": True,
            "signature": "Zw==",
        },
    )
    assert turn.hosted == (
        HostedCall("m1", "mcp_server_tool_call", server="wiki", tool="ask"),
        HostedCall("g1", "google_search_result", failed=True),
    )


def test_a_search_of_ours_has_the_arguments_of_its_delta() -> None:
    start = {"type": "tool_search_call", "id": "s1", "arguments": {"limit": 3}}
    delta = {"type": "tool_search_call", "arguments": {"function_names": ["get_weather"]}}
    turn = read_stream(created(), *streamed_step(0, start, delta), completed())
    assert turn.proposals == (Proposal("s1", "tool_search", {"limit": 3, "function_names": ["get_weather"]}),)


@pytest.mark.parametrize(
    ("start", "delta"),
    [
        (CALL, {"type": "name_delta", "name": "delete_orders"}),
        (CALL, {"type": "function_call", "name": "delete_orders"}),
        (CALL, {"type": "google_search_call", "arguments": {"page": 2}}),
        ({"type": "model_output"}, {"type": "function_result", "result": {}}),
        ({"type": "model_output"}, {"type": "hologram", "data": "AAEC"}),
    ],
)
def test_a_delta_that_is_not_defined_for_its_step_refuses_the_response(
    start: dict[str, Any], delta: dict[str, Any]
) -> None:
    code, detail = refusal(created(), *streamed_step(0, start, delta), completed())
    assert (code, detail.code, detail.path) == ("unknown_block_type", "unknown_delta", "/steps/0")


@pytest.mark.parametrize(
    ("start", "delta", "path"),
    [
        ({"type": "model_output"}, {"type": "text"}, "/steps/0/content"),
        ({"type": "model_output", "content": "It"}, text(" is"), "/steps/0/content"),
        ({"type": "model_output"}, {"type": "text_annotation_delta", "annotations": []}, "/steps/0/content"),
        (
            {"type": "model_output", "content": [text("a")]},
            {"type": "text_annotation_delta", "annotations": "b"},
            "/steps/0/content",
        ),
        (
            {"type": "model_output", "content": [{"type": "image"}]},
            {"type": "text_annotation_delta", "annotations": []},
            "/steps/0/content",
        ),
        (THOUGHT, {"type": "thought_summary", "content": "hm"}, "/steps/0/summary"),
    ],
)
def test_a_delta_of_another_shape_refuses_the_response(start: dict[str, Any], delta: dict[str, Any], path: str) -> None:
    code, detail = refusal(created(), *streamed_step(0, start, delta), completed("completed"))
    assert (code, detail.path) == ("malformed_envelope", path)


# ── any interaction, cut anywhere ──

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
VALUES = st.none() | st.booleans() | st.integers() | WORDS | st.lists(st.integers(), max_size=2)
OBJECTS = st.dictionaries(WORDS, VALUES, max_size=3)
SIGNATURES = st.sampled_from([{}, {"signature": "c2ln"}])


def cut(draw: st.DrawFn, whole: str) -> list[str]:
    bounds = [0, *sorted(draw(st.lists(st.integers(0, len(whole)), max_size=3))), len(whole)]
    return [whole[low:high] for low, high in pairwise(bounds)]


@st.composite
def calls(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A call and its events; the id is given later."""
    arguments, signature = draw(OBJECTS), draw(SIGNATURES)
    start = {"type": "function_call", "name": draw(st.sampled_from(["get_weather", "get_stock"]))}
    begun: dict[str, Any] = draw(st.sampled_from([{}, {"arguments": {}}]))
    deltas = pieces(*cut(draw, strict_json.dump(arguments)))
    deltas += [{"type": "thought_signature", **signature}] if signature else []
    return {**start, "arguments": arguments, **signature}, streamed_step(0, start | begun, *deltas)


@st.composite
def thoughts(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    said = draw(WORDS)
    deltas = [{"type": "thought_summary", "content": text(piece)} for piece in cut(draw, said)]
    return {"type": "thought", "summary": [text(said)], "signature": "c2ln"}, streamed_step(
        0, {"type": "thought"}, *deltas, {"type": "thought_signature", "signature": "c2ln"}
    )


@st.composite
def outputs(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    said = draw(WORDS)
    deltas = [text(piece) for piece in cut(draw, said)]
    image = draw(st.sampled_from([[], [{"type": "image", "data": "AAEC", "mime_type": "image/png"}]]))
    whole = {"type": "model_output", "content": [text(said), *image]}
    return whole, streamed_step(0, {"type": "model_output"}, *deltas, *image)


@st.composite
def own_work(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    kind, told = draw(
        st.sampled_from([("mcp_server_tool", {"name": "ask", "server_name": "wiki"}), ("url_context", {})])
    )
    if draw(st.booleans()):
        members: dict[str, Any] = {**told, "arguments": draw(OBJECTS), **draw(SIGNATURES)}
        start = {"type": f"{kind}_call", "id": "own", **told, "arguments": {}}
    else:
        members = {**told, "result": draw(st.lists(OBJECTS, max_size=2)), "is_error": draw(st.booleans())}
        start = {"type": f"{kind}_result", "call_id": "own"}
    return start | members, streamed_step(0, start, {"type": start["type"], **members})


def numbered(events: list[dict[str, Any]], index: int) -> list[dict[str, Any]]:
    """The events of one step at its place; a call gets an id of its own."""
    placed = [{**each, "index": index} for each in events]
    if placed[0]["step"]["type"] == "function_call":
        placed[0]["step"] = {**placed[0]["step"], "id": f"call-{index}"}
    return placed


@st.composite
def interactions_and_streams(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A whole interaction, and a legal stream of the same."""
    drawn = draw(st.lists(calls() | thoughts() | outputs() | own_work(), min_size=1, max_size=5))
    steps = [
        {**step, "id": f"call-{index}"} if step["type"] == "function_call" else step
        for index, (step, _) in enumerate(drawn)
    ]
    has_calls = any(step["type"] == "function_call" for step in steps)
    status = draw(st.sampled_from(["requires_action" if has_calls else "completed", "requires_continuation"]))
    given = draw(st.sampled_from([{}, {"steps": steps}]))
    events = [each for index, (_, events) in enumerate(drawn) for each in numbered(events, index)]
    return interaction(*steps, status=status), [created(), *events, completed(status, **given)]


@EXAMPLES
@given(interactions_and_streams())
def test_any_stream_reads_as_the_whole_interaction(both: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    whole, events = both
    assert read_stream(*events) == gemini_interactions.read(whole)


@EXAMPLES
@given(interactions_and_streams())
def test_no_stream_is_whole_before_its_last_event(both: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    _, events = both
    for length in range(len(events)):
        assert code_of(*events[:length]) == "incomplete_response"
