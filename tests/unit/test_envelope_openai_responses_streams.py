"""OpenAI Responses: what is read from the events of a stream."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters import strict_json
from adapters.envelopes import openai_responses
from tests.unit.openai_responses_items import (
    APPROVAL,
    EVERYTHING,
    HOSTED_ITEMS,
    QUERY,
    REASONING,
    SAID_ITEMS,
    SEARCH,
    STOCK,
    TEXT,
    WEATHER,
    events_of,
    numbered,
    response,
    stream_of,
    without,
)
from workflows.domain.errors import ERRORS, ResponseRefused

ONE_CALL = response(REASONING, WEATHER)
STREAM = stream_of(ONE_CALL)
ERROR = {"type": "error", "code": "server_error", "message": "No.", "param": None}


def refusal_of(events: Any) -> ResponseRefused:
    with pytest.raises(ResponseRefused) as refused:
        openai_responses.read_stream(events)
    assert refused.value.code in ERRORS
    return refused.value


def code_of(events: Any) -> str:
    return refusal_of(events).code


def place_of(events: Any) -> tuple[str, str]:
    refused = refusal_of(events)
    [detail] = refused.details
    return refused.code, detail.path


def changed(events: list[dict[str, Any]], kind: str, **members: Any) -> list[dict[str, Any]]:
    """The events with other members in the last one of a kind."""
    last = max(index for index, event in enumerate(events) if event["type"] == kind)
    return [event | members if index == last else event for index, event in enumerate(events)]


def lacking(events: list[dict[str, Any]], kind: str, index: int) -> list[dict[str, Any]]:
    return [event for event in events if (event["type"], event.get("output_index")) != (kind, index)]


@pytest.mark.parametrize("output_at_the_end", [True, False])
def test_a_stream_reads_as_the_response_sent_whole(output_at_the_end: bool) -> None:
    events = stream_of(EVERYTHING, output_at_the_end=output_at_the_end)
    assert openai_responses.read_stream(events) == openai_responses.read(EVERYTHING)


def test_what_a_call_carries_is_read_from_a_stream_too() -> None:
    body = response({**WEATHER, "async": True, "namespace": "crm"})
    [proposal] = openai_responses.read_stream(stream_of(body)).proposals
    assert proposal.carried == {"kind": "function_call", "async": True, "namespace": "crm"}


@pytest.mark.parametrize("events", [None, {}, "text", 7, [None], ["text"], [[]]])
def test_what_is_no_list_of_events_is_no_stream(events: Any) -> None:
    assert code_of(events) == "malformed_envelope"


@pytest.mark.parametrize("event", [{}, {"type": None}, {"type": ""}, {"type": 7}])
def test_an_event_without_a_type_is_refused_with_its_place(event: dict[str, Any]) -> None:
    assert place_of([*STREAM[:3], event, *STREAM[3:]]) == ("malformed_envelope", "/3/type")


@pytest.mark.parametrize("length", range(len(STREAM)))
def test_a_stream_without_its_end_was_cut(length: int) -> None:
    assert place_of(STREAM[:length]) == ("incomplete_response", "")


@pytest.mark.parametrize("position", range(len(STREAM) + 1))
def test_an_error_in_the_stream_stops_everything_wherever_it_comes(position: int) -> None:
    assert code_of([*STREAM[:position], ERROR, *STREAM[position:]]) == "incomplete_response"


@pytest.mark.parametrize(
    ("status", "more", "code"),
    [
        ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}, "incomplete_response"),
        ("incomplete", {"incomplete_details": {"reason": "steered"}}, "incomplete_response"),
        ("incomplete", {"incomplete_details": {"reason": "content_filter"}}, "refused_response"),
        ("failed", {"error": {"code": "server_error", "message": "No."}}, "incomplete_response"),
        ("failed", {"error": {"code": "bio_policy", "message": "No."}}, "refused_response"),
    ],
)
@pytest.mark.parametrize("output_at_the_end", [True, False])
def test_the_end_of_a_stream_is_judged_as_that_of_a_response(
    status: str, more: dict[str, Any], code: str, output_at_the_end: bool
) -> None:
    body = response(TEXT, WEATHER, status=status, **more)
    assert code_of(stream_of(body, output_at_the_end=output_at_the_end)) == code


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("response.completed", "incomplete"),
        ("response.completed", "in_progress"),
        ("response.completed", ""),
        ("response.incomplete", "completed"),
        ("response.failed", "completed"),
    ],
)
def test_an_end_that_its_own_response_contradicts_is_refused(kind: str, status: str) -> None:
    events = changed(STREAM, "response.completed", type=kind, response={**ONE_CALL, "status": status})
    assert place_of(events) == ("malformed_envelope", f"/{len(STREAM) - 1}/response/status")


def test_the_last_event_says_the_status_where_its_response_does_not() -> None:
    bare = {"id": "resp_17", "usage": {}}
    turn = openai_responses.read_stream(changed(STREAM, "response.completed", response=bare))
    assert turn == openai_responses.read(ONE_CALL)
    assert (
        code_of(changed(STREAM, "response.completed", type="response.failed", response=bare)) == "incomplete_response"
    )


@pytest.mark.parametrize("end", [None, "text", [ONE_CALL]])
def test_a_last_event_without_a_response_is_refused(end: Any) -> None:
    events = changed(STREAM, "response.completed", response=end)
    assert place_of(events) == ("malformed_envelope", f"/{len(STREAM) - 1}/response")


@pytest.mark.parametrize("late", [STREAM[-1], STREAM[-2], next(iter(events_of(STOCK, 2, 7)))])
def test_nothing_of_a_response_comes_behind_its_end(late: dict[str, Any]) -> None:
    assert place_of([*STREAM, late]) == ("malformed_envelope", f"/{len(STREAM)}")


def test_an_unknown_event_is_ignored() -> None:
    unknown = {"type": "response.soon_to_be_invented", "delta": "x"}
    events = [event for told in STREAM for event in (unknown, told, unknown)]
    assert openai_responses.read_stream(events) == openai_responses.read(ONE_CALL)


def test_an_unknown_event_that_brings_an_item_refuses_the_response() -> None:
    unknown = {"type": "response.output_item.moved", "output_index": 0, "item": WEATHER}
    assert place_of([*STREAM[:2], unknown, *STREAM[2:]]) == ("unknown_block_type", "/2/type")


DONE = {"type": "response.output_item.done"}


@pytest.mark.parametrize(
    ("events", "word", "expected"),
    [
        ([ERROR], "broken_off", "a response that ended by itself"),
        ([], "cut_off", "response.completed or response.incomplete or response.failed"),
        ([STREAM[-1], STREAM[-1]], "after_the_end", "one response in a stream, and nothing behind it"),
        ([{"type": "response.item.moved", "item": {}}], "unknown_type", "an event that this surface defines"),
        (
            [DONE | {"output_index": 0, "item": STOCK}, STREAM[-1]],
            "differs_from_events",
            "the items of the events before",
        ),
        ([DONE | {"output_index": "0", "item": STOCK}], "wrong_type", "an integer"),
        ([DONE | {"output_index": 0, "item": item} for item in (STOCK, TEXT)], "duplicate", "one item for each index"),
        (
            [DONE | {"output_index": 1, "item": STOCK}, {"type": "response.completed", "response": response()}],
            "cut_off",
            "every item of the output",
        ),
    ],
)
def test_a_refusal_of_a_stream_says_what_was_expected(events: list[Any], word: str, expected: str) -> None:
    [detail] = refusal_of(events).details
    assert (detail.code, detail.expected) == (word, expected)


# ── what the last event says of the items before it ──


@pytest.mark.parametrize(
    "told",
    [
        [WEATHER],
        [REASONING],
        [WEATHER, REASONING],
        [REASONING, {**WEATHER, "arguments": '{"city":"Rome","unit":"celsius"}'}],
        [REASONING, {**WEATHER, "name": "get_stock"}],
        [REASONING, {**WEATHER, "call_id": "call-other"}],
        [REASONING, {**WEATHER, "status": "incomplete"}],
        [REASONING, {**WEATHER, "namespace": "crm"}],
        [REASONING, without(WEATHER, "arguments")],
        [REASONING, "text"],
    ],
)
def test_a_last_event_that_tells_other_items_than_the_events_before_is_refused(told: list[Any]) -> None:
    events = changed(STREAM, "response.completed", response={**ONE_CALL, "output": told})
    assert place_of(events) == ("malformed_envelope", f"/{len(STREAM) - 1}/response/output")


@pytest.mark.parametrize("told", ["text", {"0": WEATHER}, 7])
def test_a_last_event_with_an_output_of_another_type_is_refused(told: Any) -> None:
    events = changed(STREAM, "response.completed", response={**ONE_CALL, "output": told})
    assert place_of(events) == ("malformed_envelope", f"/{len(STREAM) - 1}/response/output")


def test_items_that_only_the_last_event_tells_count() -> None:
    body = response(REASONING, WEATHER, STOCK)
    for events in (stream_of(body)[-1:], lacking(stream_of(body), "response.output_item.done", 1)):
        assert openai_responses.read_stream(events) == openai_responses.read(body)


def test_what_a_server_seals_anew_in_its_last_event_goes_back_as_the_items_own_events_had_it() -> None:
    sealed = [{**REASONING, "id": "rs_9", "encrypted_content": "b3RoZXI="}, {**WEATHER, "id": "fc_9"}]
    events = changed(STREAM, "response.completed", response={**ONE_CALL, "output": sealed})
    assert openai_responses.read_stream(events) == openai_responses.read(ONE_CALL)


def test_an_item_that_only_the_last_event_tells_keeps_its_place_among_those_that_go_back() -> None:
    told = {**ONE_CALL, "output": [{**REASONING, "encrypted_content": "b3RoZXI="}, TEXT, WEATHER]}
    events = changed(STREAM, "response.completed", response=told)
    assert openai_responses.read_stream(events) == openai_responses.read(response(REASONING, TEXT, WEATHER))


def test_an_approval_under_another_id_is_another_approval() -> None:
    events = changed(
        stream_of(response(APPROVAL)), "response.completed", response=response({**APPROVAL, "id": "mcpr_9"})
    )
    assert code_of(events) == "malformed_envelope"


@pytest.mark.parametrize("left_out", [[], None])
def test_items_are_taken_in_the_order_of_their_index_when_the_last_event_leaves_them_out(left_out: Any) -> None:
    body = response(REASONING, TEXT, WEATHER, STOCK)
    blocks = [list(events_of(item, index, 7)) for index, item in enumerate(body["output"])]
    end = {"type": "response.completed", "response": {**body, "output": left_out}}
    events = [*blocks[3], *blocks[0], *blocks[2], *blocks[1], end]
    assert openai_responses.read_stream(numbered(events)) == openai_responses.read(body)


ITEMS_ALONE = stream_of(ONE_CALL, output_at_the_end=False)
"""A stream whose last event leaves the items out."""


@pytest.mark.parametrize(
    "events",
    [
        lacking(ITEMS_ALONE, "response.output_item.done", 1),
        lacking(lacking(ITEMS_ALONE, "response.output_item.done", 0), "response.output_item.added", 0),
    ],
)
def test_an_item_that_got_lost_refuses_a_response_that_leaves_its_items_out(events: list[dict[str, Any]]) -> None:
    assert place_of(events) == ("incomplete_response", f"/{len(events) - 1}/response/output")


def test_two_items_for_one_index_are_refused() -> None:
    again = {"type": "response.output_item.done", "output_index": 1, "item": STOCK}
    assert place_of([*STREAM[:-1], again, STREAM[-1]]) == (
        "malformed_envelope",
        f"/{len(STREAM) - 1}/output_index",
    )


def test_an_item_that_is_told_twice_is_one_item() -> None:
    for events in (STREAM, ITEMS_ALONE):
        turn = openai_responses.read_stream([*events[:-1], events[-2], events[-1]])
        assert turn == openai_responses.read(ONE_CALL)


@pytest.mark.parametrize("kind", ["response.output_item.added", "response.output_item.done"])
@pytest.mark.parametrize("index", [None, "1", [1]])
def test_an_item_without_an_index_is_refused(kind: str, index: Any) -> None:
    events = changed(STREAM, kind, output_index=index)
    code, place = place_of(events)
    assert (code, place.split("/")[-1]) == ("malformed_envelope", "output_index")


@pytest.mark.parametrize("item", [None, "text", [WEATHER]])
def test_a_finished_item_that_is_no_object_is_refused(item: Any) -> None:
    code, place = place_of(changed(STREAM, "response.output_item.done", item=item))
    assert (code, place.split("/")[-1]) == ("malformed_envelope", "item")


def test_an_item_that_was_begun_otherwise_is_taken_as_it_was_finished() -> None:
    begun = {**REASONING, "encrypted_content": "aGFsZg==", "summary": []}
    events = [event | {"item": begun} if event["type"] == STREAM[2]["type"] else event for event in STREAM]
    assert openai_responses.read_stream(events) == openai_responses.read(ONE_CALL)


# ── any response, any legal stream ──

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ARGUMENTS = st.one_of(st.just(""), st.dictionaries(TEXTS, st.integers() | TEXTS, max_size=3).map(strict_json.dump))
CALLED = st.one_of(
    st.builds(lambda text: {**WEATHER, "arguments": text}, ARGUMENTS),
    st.builds(lambda text: {**STOCK, "arguments": text, "namespace": "crm", "async": True}, ARGUMENTS),
    st.builds(lambda text: {**QUERY, "input": text}, TEXTS),
    st.builds(lambda text: {**APPROVAL, "arguments": text}, ARGUMENTS),
    st.just(SEARCH),
)
OTHERS = st.sampled_from([*HOSTED_ITEMS, *SAID_ITEMS])


@st.composite
def whole_responses(draw: st.DrawFn) -> dict[str, Any]:
    """Up to four calls, each under an id of its own, between what is no call."""
    output: list[dict[str, Any]] = draw(st.lists(OTHERS, max_size=4))
    for number, call in enumerate(draw(st.lists(CALLED, max_size=4))):
        ids = {"id": f"item-{number}"} | ({"call_id": f"call-{number}"} if "call_id" in call else {})
        output.insert(draw(st.integers(0, len(output))), call | ids)
    return response(*output)


def legal_stream(whole: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    """The events of `whole` in any order that the protocol allows: items may grow side by side."""
    waiting = [list(events_of(item, index, chance.randint(1, 9))) for index, item in enumerate(whole["output"])]
    events: list[dict[str, Any]] = []
    while growing := [queue for queue in waiting if queue]:
        events.append(chance.choice(growing).pop(0))
    frame = stream_of(whole, output_at_the_end=chance.random() < 0.5)
    return numbered([*frame[:2], *events, frame[-1]])


@settings(max_examples=60, deadline=None)
@given(whole_responses(), st.randoms(use_true_random=False))
def test_any_response_in_any_legal_stream_reads_as_it_does_whole(whole: dict[str, Any], chance: random.Random) -> None:
    expected = openai_responses.read(whole)
    turn = openai_responses.read_stream(legal_stream(whole, chance))
    assert turn == expected
    assert [proposal.carried for proposal in turn.proposals] == [proposal.carried for proposal in expected.proposals]


@settings(max_examples=60, deadline=None)
@given(whole_responses(), st.randoms(use_true_random=False))
def test_every_beginning_of_any_stream_is_refused(whole: dict[str, Any], chance: random.Random) -> None:
    events = legal_stream(whole, chance)
    assert {code_of(events[:length]) for length in range(len(events))} == {"incomplete_response"}
