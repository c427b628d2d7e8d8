"""What holds of the checker on every surface, and of what our adapters write."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.envelopes import SURFACES
from adapters.envelopes.transcript import CODES, TranscriptRefused, require_sound
from tests.unit import (
    test_transcript_anthropic_messages,
    test_transcript_gemini_generate_content,
    test_transcript_gemini_interactions,
    test_transcript_openai_chat,
    test_transcript_openai_responses,
)
from tests.unit.conversations import QUESTION, WHOLE
from workflows.domain.proposal import CallError, CallResult, Proposal, Status

CASES = (
    test_transcript_anthropic_messages,
    test_transcript_gemini_generate_content,
    test_transcript_gemini_interactions,
    test_transcript_openai_chat,
    test_transcript_openai_responses,
)

every_surface = pytest.mark.parametrize("surface", WHOLE)
every_adapter = pytest.mark.parametrize("surface", SURFACES)

PIECES = st.sampled_from(
    [piece for module in CASES for conversation in module.SOUND.values() for piece in conversation]
    + [piece for module in CASES for conversation, _, _ in module.UNSOUND.values() for piece in conversation]
)
ODD = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.none(), max_size=2)

NAMES = st.sampled_from(["get_weather", "get_news", "execute_refund"])
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b"]), st.integers() | st.text(max_size=5), max_size=2)
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS, st.booleans()), max_size=4)
WORDS = st.sampled_from(["I look.", "", "\n"])
TURNS = st.lists(st.tuples(WORDS, CALLS), min_size=1, max_size=4)

Turns = list[tuple[str, list[Any]]]


def proposals(turn: int, calls: list[Any]) -> list[Proposal]:
    return [Proposal(f"call-{turn}-{place}", name, arguments) for place, (name, arguments, _) in enumerate(calls)]


def answer(proposal: Proposal, succeeded: bool) -> CallResult:
    if succeeded:
        return CallResult(proposal.call_id, proposal.tool_name, Status.SUCCEEDED, data={"done": True})
    return CallResult(proposal.call_id, proposal.tool_name, Status.FAILED_TERMINAL, error=CallError("not_found"))


def written(surface: str, turns: Turns) -> list[dict[str, Any]]:
    """A conversation in which each turn's calls are read and answered by our adapter, the last one first."""
    conversation = []
    for turn, (words, calls) in enumerate(turns):
        read = SURFACES[surface].read(WHOLE[surface](proposals(turn, calls), words, turn))
        results = [answer(proposal, calls[place][2]) for place, proposal in enumerate(read.proposals)]
        conversation += [QUESTION[surface], *SURFACES[surface].write(read, reversed(results))]
    return conversation


def refusal_of(surface: str, conversation: Any) -> TranscriptRefused | None:
    try:
        require_sound(surface, conversation)
    except TranscriptRefused as refused:
        return refused
    return None


@every_adapter
@settings(deadline=None)
@given(turns=TURNS)
def test_every_conversation_that_our_adapters_write_is_sound(surface: str, turns: Turns) -> None:
    require_sound(surface, written(surface, turns))


@every_adapter
@settings(deadline=None)
@given(turns=TURNS, data=st.data())
def test_a_conversation_that_lost_a_message_with_calls_or_results_is_not(
    surface: str, turns: Turns, data: st.DataObject
) -> None:
    turns = [*turns, ("I look.", [("get_weather", {}, True)])]
    whole = written(surface, turns)
    indispensable = [place for place, item in enumerate(whole) if _tells_of_calls(item)]
    lost = data.draw(st.sampled_from(indispensable))
    with pytest.raises(TranscriptRefused):
        require_sound(surface, [*whole[:lost], *whole[lost + 1 :]])


def _tells_of_calls(item: dict[str, Any]) -> bool:
    marks = ("tool_use", "tool_result", "function_call", "functionCall", "functionResponse", "function_result")
    return any(mark in repr(item) for mark in (*marks, "tool_calls", "tool_call_id"))


@every_surface
@pytest.mark.parametrize("nonsense", [None, "", "text", 7, True, {}, [None], ["text"], [[]], [7]])
def test_nonsense_is_no_conversation(surface: str, nonsense: Any) -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound(surface, nonsense)
    assert refused.value.code == "malformed_item"


@every_surface
@settings(deadline=None)
@given(pieces=st.lists(PIECES, max_size=4), data=st.data())
def test_whatever_is_handed_in_is_judged(surface: str, pieces: list[Any], data: st.DataObject) -> None:
    spoilt = [_spoilt(piece, data) for piece in pieces]
    refused = refusal_of(surface, spoilt)
    assert refused is None or (refused.code in CODES and _found(spoilt, refused.path))


def _spoilt(value: Any, data: st.DataObject) -> Any:
    """Replace one member, somewhere, by something odd."""
    if isinstance(value, dict) and value:
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: _spoilt(value[key], data)}
    if isinstance(value, list) and value:
        return [_spoilt(value[0], data), *value[1:]]
    return data.draw(ODD)


def _found(conversation: Any, path: str) -> bool:
    """Whether a path leads somewhere; its last step may name what is missing there."""
    *steps, last = path.split("/")[1:] or [""]
    for step in steps:
        conversation = conversation[int(step)] if isinstance(conversation, list) else conversation.get(step)
    return not isinstance(conversation, list) or last == "" or int(last) < len(conversation)


def test_a_surface_that_there_is_not_is_refused() -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound("telegraph", [])
    assert refused.value.code == "unknown_surface"


def test_each_code_is_shown_by_a_case_and_each_case_has_a_code_of_the_list() -> None:
    shown = {code for module in CASES for _, code, _ in module.UNSOUND.values()}
    assert shown | {"unknown_surface"} == set(CODES)


def test_a_refusal_says_where_and_what_was_expected_but_not_what_came() -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound("openai-chat", [{"role": "tool", "tool_call_id": "s3cret", "content": "s3cret"}])
    assert refused.value.path == "/0"
    assert "s3cret" not in str(refused.value)
    assert refused.value.expected in str(refused.value)


def test_a_chat_model_that_says_nothing_at_all_can_be_asked_again() -> None:
    silent = WHOLE["openai-chat"]([], "", 1)
    silent["choices"][0]["message"]["content"] = None
    turn = SURFACES["openai-chat"].read(silent)
    question = QUESTION["openai-chat"]
    require_sound("openai-chat", [question, *SURFACES["openai-chat"].write(turn, []), question])
