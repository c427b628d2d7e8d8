"""Gemini generateContent, streamed: what the chunks make, and what is refused for want of an end."""

import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.envelopes import gemini_generate_content
from adapters.envelopes.envelope import ReadTurn
from tests.unit.gemini_reads import call_part, candidate, generated
from tests.unit.three_reads import PROPOSALS
from workflows.domain.errors import ResponseRefused

WEATHER, STOCK, NEWS = (call_part(proposal) for proposal in PROPOSALS)
SIGNED = {**WEATHER, "thoughtSignature": "c2lnbmVk"}
SIGNATURE_ALONE = {"text": "", "thoughtSignature": "bGFzdA=="}

EXAMPLES = settings(max_examples=60, deadline=None)


def chunk(*parts: Any, finish_reason: Any = None, index: int = 0, **more: Any) -> dict[str, Any]:
    piece: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": index}
    if finish_reason is not None:
        piece["finishReason"] = finish_reason
    return {"candidates": [piece], "responseId": "gen-17", "modelVersion": "gemini-under-test", **more}


LAST = chunk(finish_reason="STOP")
USAGE = {"responseId": "gen-17", "usageMetadata": {"candidatesTokenCount": 20, "thoughtsTokenCount": 3}}


def read_stream(*chunks: Any) -> ReadTurn:
    return gemini_generate_content.read_stream(list(chunks))


def code_of(*chunks: Any) -> str:
    with pytest.raises(ResponseRefused) as refused:
        read_stream(*chunks)
    return refused.value.code


def test_parallel_calls_of_separate_chunks_are_one_turn() -> None:
    turn = read_stream(chunk({"text": "Three", "thought": True}), chunk(SIGNED), chunk(STOCK), chunk(NEWS), LAST)
    assert turn.proposals == PROPOSALS
    assert (turn.surface, turn.request_id) == ("gemini-generate-content", "gen-17")
    assert turn.echo == ({"role": "model", "parts": [{"text": "Three", "thought": True}, SIGNED, STOCK, NEWS]},)


def test_a_chunk_with_a_signature_alone_keeps_its_part() -> None:
    turn = read_stream(
        chunk({"text": "Three "}), chunk({"text": "reads."}), chunk(SIGNATURE_ALONE, finish_reason="STOP")
    )
    assert turn.echo[0]["parts"] == [{"text": "Three "}, {"text": "reads."}, SIGNATURE_ALONE]


def test_a_stream_leaves_its_chunks_as_they_were() -> None:
    chunks = [chunk(SIGNED), chunk(STOCK), LAST]
    before = copy.deepcopy(chunks)
    read_stream(*chunks)
    assert chunks == before


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [USAGE],
        [chunk(WEATHER)],
        [chunk(WEATHER), chunk(STOCK), USAGE],
        [chunk(WEATHER, finish_reason="FINISH_REASON_UNSPECIFIED")],
        [chunk(WEATHER, finish_reason="STOP"), chunk(STOCK)],
        [chunk(WEATHER), {"candidates": []}],
        [chunk({"text": "a"}, finish_reason="STOP"), chunk({"text": "b"}, index=1)],
    ],
)
def test_a_stream_without_its_end_was_cut(chunks: list[dict[str, Any]]) -> None:
    assert code_of(*chunks) == "incomplete_response"


@pytest.mark.parametrize("chunks", [[chunk(WEATHER)], [chunk(WEATHER), LAST]])
def test_a_stream_that_the_provider_broke_off_runs_nothing(chunks: list[dict[str, Any]]) -> None:
    assert code_of(*chunks, {"error": {"code": 503, "status": "UNAVAILABLE"}}) == "incomplete_response"


@pytest.mark.parametrize("after", [[], [USAGE], [chunk()], [chunk(finish_reason="STOP")], [{"candidates": None}]])
def test_what_says_nothing_may_follow_the_end(after: list[dict[str, Any]]) -> None:
    assert read_stream(chunk(WEATHER), LAST, *after).proposals == PROPOSALS[:1]


def test_an_end_beside_every_call_is_one_end() -> None:
    turn = read_stream(chunk(WEATHER, finish_reason="STOP"), chunk(STOCK, finish_reason="STOP"))
    assert turn.proposals == PROPOSALS[:2]


@pytest.mark.parametrize("ends", [("SAFETY", "STOP"), ("STOP", "MAX_TOKENS")])
def test_two_different_ends_cannot_both_be_true(ends: tuple[str, str]) -> None:
    first, second = ends
    assert code_of(chunk(WEATHER, finish_reason=first), chunk(finish_reason=second)) == "malformed_envelope"


def test_an_end_that_is_not_yet_one_is_no_second_end() -> None:
    turn = read_stream(chunk(WEATHER, finish_reason="FINISH_REASON_UNSPECIFIED"), LAST)
    assert turn.proposals == PROPOSALS[:1]


@pytest.mark.parametrize(
    ("finish_reason", "code"),
    [("MAX_TOKENS", "incomplete_response"), ("SAFETY", "refused_response"), ("SOON_INVENTED", "unknown_stop_signal")],
)
def test_the_end_of_a_stream_is_judged_as_that_of_a_whole_response(finish_reason: str, code: str) -> None:
    assert code_of(chunk(WEATHER), chunk(finish_reason=finish_reason)) == code


def test_a_stream_that_was_paused_runs_nothing() -> None:
    turn = read_stream(chunk(SIGNED), chunk(finish_reason="CONTINUATION"))
    assert (turn.paused, turn.proposals) == (True, ())
    assert turn.echo[0]["parts"] == [SIGNED]


def test_a_blocked_prompt_is_a_refusal_and_no_cut() -> None:
    assert code_of({"promptFeedback": {"blockReason": "SAFETY"}, "responseId": "gen-17"}) == "refused_response"


@pytest.mark.parametrize(
    "pieces",
    [
        [{"name": "get_weather", "willContinue": True}, {"partialArgs": [{"jsonPath": "$.city"}]}, {}],
        [{"name": "get_weather", "partialArgs": [{"jsonPath": "$.city", "stringValue": "Seoul"}]}],
    ],
)
def test_arguments_that_are_streamed_one_by_one_are_not_put_together(pieces: list[dict[str, Any]]) -> None:
    assert code_of(*(chunk({"functionCall": piece}) for piece in pieces), LAST) == "incomplete_response"


def test_chunks_of_two_responses_are_not_mixed() -> None:
    assert code_of(chunk(WEATHER), {**LAST, "responseId": "gen-18"}) == "malformed_envelope"


def test_chunks_may_leave_the_id_out() -> None:
    bare = {key: value for key, value in chunk(WEATHER).items() if key != "responseId"}
    assert read_stream(bare, LAST).request_id == "gen-17"
    assert read_stream({**bare, "responseId": ""}, {**LAST, "responseId": None}).request_id is None


def test_the_last_count_of_tokens_is_that_of_the_response() -> None:
    counted = [{**chunk(WEATHER), "usageMetadata": {"candidatesTokenCount": 4, "thoughtsTokenCount": 3}}, LAST, USAGE]
    assert read_stream(*counted).spent.tokens == 23
    assert read_stream(*counted[:2]).spent.tokens == 7
    assert read_stream(*counted, {"usageMetadata": None}).spent.tokens == 23
    assert read_stream(chunk(WEATHER), LAST).spent.tokens is None


def test_several_candidates_are_kept_apart() -> None:
    texts = [chunk({"text": "a"}), chunk({"text": "b"}, index=1), LAST, chunk(finish_reason="STOP", index=1)]
    assert read_stream(*texts).echo == ({"role": "model", "parts": [{"text": "a"}]},)
    assert code_of(*texts[:1], chunk(WEATHER, index=1), *texts[2:]) == "malformed_envelope"


def test_the_first_candidate_is_the_one_with_the_lowest_index() -> None:
    chunks = [chunk({"text": "b"}, index=1, finish_reason="STOP"), chunk({"text": "a"}, finish_reason="STOP")]
    assert read_stream(*chunks).echo[0]["parts"] == [{"text": "a"}]


def test_a_candidate_without_an_index_is_the_first() -> None:
    bare = {"candidates": [{"content": {"parts": [WEATHER], "role": "model"}}]}
    assert read_stream(bare, LAST).proposals == PROPOSALS[:1]


@pytest.mark.parametrize("head", [{}, {"role": None}])
def test_a_role_that_one_chunk_leaves_out_is_still_the_models(head: dict[str, Any]) -> None:
    bare = {"candidates": [{"content": {"parts": [STOCK], **head}}]}
    assert read_stream(chunk(WEATHER), bare, LAST).echo == ({"role": "model", "parts": [WEATHER, STOCK]},)


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ("text", "/1"),
        (None, "/1"),
        ({"candidates": {}}, "/1/candidates"),
        ({"candidates": ["text"]}, "/1/candidates/0"),
        ({"candidates": [{"index": "0"}]}, "/1/candidates/0/index"),
        ({"candidates": [{"content": "text"}]}, "/1/candidates/0/content"),
        ({"candidates": [{"content": {"role": "user"}}]}, "/1/candidates/0/content/role"),
        ({"candidates": [{"content": {"parts": "text"}}]}, "/1/candidates/0/content/parts"),
    ],
)
def test_a_chunk_of_another_shape_refuses_the_stream(broken: Any, path: str) -> None:
    with pytest.raises(ResponseRefused) as refused:
        read_stream(chunk(WEATHER), broken, LAST)
    assert (refused.value.code, refused.value.details[0].path) == ("malformed_envelope", path)


def test_a_stream_is_a_list() -> None:
    with pytest.raises(ResponseRefused):
        gemini_generate_content.read_stream({"candidates": []})  # type: ignore[arg-type]


# ── any response, cut anywhere ──

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
VALUES = st.none() | st.booleans() | st.integers() | WORDS | st.lists(st.integers(), max_size=2)
CALLS = st.builds(
    lambda name, args, signature: {"functionCall": {"name": name, "args": args}, **signature},
    st.sampled_from(["get_weather", "get_stock"]),
    st.dictionaries(WORDS, VALUES, max_size=3),
    st.sampled_from([{}, {"thoughtSignature": "c2ln"}]),
)
OTHERS = st.sampled_from(
    [
        {"text": "Looking."},
        {"text": "Hm.", "thought": True},
        SIGNATURE_ALONE,
        {"toolCall": {"id": "t1", "toolType": "URL_CONTEXT"}},
        {"executableCode": {"code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
    ]
)
PARTS = st.lists(CALLS | OTHERS, min_size=1, max_size=6)


@st.composite
def responses_and_streams(draw: st.DrawFn) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A whole response, and a legal stream of the same: no part is split, and chunks may be empty."""
    parts = draw(PARTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(parts)), max_size=4)))
    bounds = [0, *cuts, len(parts)]
    chunks = [chunk(*parts[low:high]) for low, high in pairwise(bounds)]
    finish_reason = draw(st.sampled_from(["STOP", "STOP", "CONTINUATION"]))
    end = [chunk(finish_reason=finish_reason)]
    if draw(st.booleans()):
        chunks[-1]["candidates"][0]["finishReason"], end = finish_reason, []
    whole, stream = generated(candidate(*parts, finish_reason=finish_reason)), [*chunks, *end]
    return whole, [*stream[:-1], {**stream[-1], "usageMetadata": whole["usageMetadata"]}]


@EXAMPLES
@given(responses_and_streams())
def test_any_stream_reads_as_the_whole_response(both: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    whole, chunks = both
    expected = gemini_generate_content.read(whole)
    turn = read_stream(*chunks)
    assert turn == expected
    assert [each.carried for each in turn.proposals] == [each.carried for each in expected.proposals]


@EXAMPLES
@given(responses_and_streams())
def test_no_stream_is_whole_before_its_last_chunk(both: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    _, chunks = both
    for length in range(len(chunks)):
        assert code_of(*chunks[:length]) == "incomplete_response"


@EXAMPLES
@given(st.lists(CALLS, min_size=1, max_size=3), st.lists(WORDS, max_size=4))
def test_text_that_is_cut_otherwise_changes_no_call(calls: list[dict[str, Any]], texts: list[str]) -> None:
    whole = gemini_generate_content.read(generated(candidate({"text": "".join(texts)}, *calls)))
    turn = read_stream(*(chunk({"text": text}) for text in texts), *map(chunk, calls), LAST)
    assert turn.proposals == whole.proposals
