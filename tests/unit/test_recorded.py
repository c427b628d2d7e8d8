"""The program that reads recorded exchanges: what is sound passes, and what an adapter loses is found."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from adapters.envelopes import SURFACES
from adapters.envelopes.envelope import ReadTurn
from tests.recorded import __main__ as recorded
from tests.recorded.wire import Adapter
from tests.recorded.wires import WIRES
from tests.unit.conversations import WHOLE
from tests.unit.three_reads import STREAMS, message_stream
from workflows.domain.errors import Detail, ResponseRefused
from workflows.domain.proposal import CallResult, Proposal

Json = dict[str, Any]

CALLS = (Proposal("call-1", "get_weather", {"city": "Seoul"}), Proposal("call-2", "get_stock", {"symbol": "ACME"}))

every_surface = pytest.mark.parametrize("surface", SURFACES)

TOOL = {"name": "get_weather", "description": "Reads the weather.", "parameters": {"type": "object"}}

Named = tuple[str, str]


def accepted_blocks(calls: Sequence[Named]) -> list[Json]:
    blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": "22"} for call_id, _ in calls]
    return [{"role": "user", "content": blocks}]


def accepted_parts(calls: Sequence[Named]) -> list[Json]:
    told = [{"id": call_id, "name": name, "response": {"output": 22}} for call_id, name in calls]
    return [{"role": "user", "parts": [{"functionResponse": each} for each in told]}]


ACCEPTED: Mapping[str, Callable[[Sequence[Named]], list[Json]]] = {
    "openai-chat": lambda calls: [{"role": "tool", "tool_call_id": call_id, "content": "22"} for call_id, _ in calls],
    "anthropic-messages": accepted_blocks,
    "openai-responses": lambda calls: [
        {"type": "function_call_output", "call_id": call_id, "output": "22"} for call_id, _ in calls
    ],
    "gemini-generate-content": accepted_parts,
    "gemini-interactions": lambda calls: [
        {"type": "function_result", "call_id": call_id, "name": name, "result": "22"} for call_id, name in calls
    ],
}


def accepted(surface: str, *call_ids: str) -> list[Json]:
    """A follow-up that answers these ids under the names of `CALLS`."""
    return ACCEPTED[surface]([(call_id, call.tool_name) for call_id, call in zip(call_ids, CALLS, strict=True)])


def exchange(surface: str, **more: Any) -> Json:
    """Two calls, and the answers that the provider took."""
    return {
        "id": f"{surface}#1",
        "surface": surface,
        "tools": [TOOL],
        "response": WHOLE[surface](CALLS, "I look.", 1),
        "followup": accepted(surface, "call-1", "call-2"),
        **more,
    }


def streamed(surface: str, events: Iterable[Json]) -> Json:
    text = "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events)
    return {
        "id": f"{surface}#s",
        "surface": surface,
        "tools": None,
        "followup": None,
        "stream": f"{text}data: [DONE]\n",
    }


CHUNKS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "I "}}]},
    {"choices": [{"index": 0, "delta": {"content": "look."}}]},
    {
        "choices": [
            {
                "index": 0,
                "delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": '{"a"'}}]},
            }
        ]
    },
    {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
]


@dataclass(frozen=True)
class Spoilt:
    """An adapter that does not do what it should: it changes what it has read, or what it writes."""

    surface: str
    turn: Callable[[ReadTurn], ReadTurn] = lambda turn: turn
    items: Callable[[list[Json]], list[Json]] = lambda items: items

    @property
    def good(self) -> Adapter:
        return SURFACES[self.surface]

    def read(self, response: Any) -> ReadTurn:
        return self.turn(self.good.read(response))

    def read_stream(self, events: Any) -> ReadTurn:
        return self.turn(self.good.read_stream(events))

    def write(self, turn: ReadTurn, results: Iterable[CallResult]) -> list[Json]:
        return self.items(self.good.write(turn, results))


def run(folder: Path, *exchanges: Json, spoilt: Spoilt | None = None) -> int:
    """Write one file and run the program on its folder."""
    lines = [json.dumps(exchange, ensure_ascii=False) for exchange in exchanges]
    (folder / "some.jsonl").write_text("\n".join(lines))
    adapters: dict[str, Adapter] = {**SURFACES, **({spoilt.surface: spoilt} if spoilt else {})}
    return recorded.main([str(folder)], adapters)


def last_line(said: str) -> str:
    return said.rstrip().splitlines()[-1]


# ── what is sound ──


def test_a_folder_of_sound_exchanges_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exchanges = [exchange(surface) for surface in SURFACES]
    assert run(tmp_path, *exchanges) == 0
    said = capsys.readouterr().out
    assert last_line(said) == f"read {len(SURFACES)}/{len(SURFACES)}, written {len(SURFACES)}/{len(SURFACES)}"
    assert "LOST" not in said


@every_surface
def test_the_official_packages_take_these_exchanges(surface: str) -> None:
    WIRES[surface].came_well(exchange(surface)["response"])


def test_each_file_has_a_row_with_its_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.jsonl").write_text(json.dumps(exchange("openai-chat")))
    assert run(tmp_path, exchange("anthropic-messages"), exchange("anthropic-messages")) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "/" in line and line.endswith("-")]
    assert rows == [
        ["other.jsonl", "1", "2", "0", "0", "1/1", "-"],
        ["some.jsonl", "2", "4", "0", "0", "2/2", "-"],
    ]


@every_surface
def test_an_answer_without_calls_and_without_a_follow_up_is_written_back(surface: str, tmp_path: Path) -> None:
    assert run(tmp_path, exchange(surface, response=WHOLE[surface]([], "Warm.", 1), followup=None)) == 0


def test_a_stream_is_put_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = streamed("openai-chat", CHUNKS)
    assert run(tmp_path, stream, {**stream, "response": None}) == 0
    assert last_line(capsys.readouterr().out) == "read 2/2, written 2/2"


def test_a_streamed_input_that_is_no_json_is_no_loss(tmp_path: Path) -> None:
    response = WHOLE["anthropic-messages"](CALLS, "I look.", 1)
    events = message_stream(response)
    for event in events:
        if event.get("delta", {}).get("type") == "input_json_delta" and event["index"] == 1:
            event["delta"]["partial_json"] = '{"city": "Se'
    assert run(tmp_path, streamed("anthropic-messages", events)) == 0


@every_surface
def test_a_stream_of_each_surface_is_put_together(surface: str, tmp_path: Path) -> None:
    assert run(tmp_path, streamed(surface, STREAMS[surface])) == 0


def test_a_refusal_that_is_deserved_counts_as_read_and_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    response = {**WHOLE["anthropic-messages"](CALLS, "I look.", 1), "stop_reason": "max_tokens"}
    cut = streamed("openai-chat", CHUNKS[:-1])
    assert run(tmp_path, exchange("anthropic-messages", response=response), cut) == 0
    said = capsys.readouterr().out
    assert "refused some.jsonl anthropic-messages#1: incomplete_response" in said
    assert "2 incomplete_response" in said
    assert last_line(said) == "read 2/2, written 0/0"


@every_surface
def test_what_is_no_response_deserves_its_refusal(surface: str, tmp_path: Path) -> None:
    nothings: tuple[Any, ...] = ({"error": {"type": "overloaded_error"}}, {}, [], "text")
    assert run(tmp_path, *(exchange(surface, response=nothing) for nothing in nothings)) == 0


def test_a_paused_response_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    response = {**WHOLE["anthropic-messages"]([], "I search.", 1), "content": [search], "stop_reason": "pause_turn"}
    assert run(tmp_path, exchange("anthropic-messages", response=response, followup=None)) == 0
    assert ["some.jsonl", "1", "0", "1", "1", "1/1", "-"] in [x.split() for x in capsys.readouterr().out.splitlines()]


def test_a_result_of_the_providers_own_whose_call_came_earlier_is_no_loss(tmp_path: Path) -> None:
    late = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    response = WHOLE["anthropic-messages"]([], "It is warm.", 1)
    response["content"].insert(0, late)
    assert run(tmp_path, exchange("anthropic-messages", response=response, followup=None)) == 0


def test_progress_is_told_in_long_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "EVERY", 2)
    assert run(tmp_path, *[exchange("openai-chat")] * 5) == 0
    assert capsys.readouterr().out.count("so far") == 2


# ── what an adapter loses ──


def without_last_piece(turn: ReadTurn) -> ReadTurn:
    """Lose the last block, part or call of the echo, or its last item."""
    *before, last = turn.echo
    for place in ("content", "parts", "tool_calls"):
        if isinstance(last.get(place), list):
            return replace(turn, echo=(*before, {**last, place: last[place][:-1]}))
    return replace(turn, echo=tuple(before))


def without(turn: ReadTurn, *names: str) -> ReadTurn:
    """Lose every member of these names, wherever it is."""
    return replace(turn, echo=tuple(_stripped(item, names) for item in turn.echo))


def _stripped(value: Any, names: Iterable[str]) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(item, names) for key, item in value.items() if key not in names}
    return [_stripped(item, names) for item in value] if isinstance(value, list) else value


def with_first_call(turn: ReadTurn, **members: Any) -> ReadTurn:
    first, *others = turn.proposals
    return replace(turn, proposals=(replace(first, **members), *others))


def renamed(items: list[Json], old: str, new: str) -> list[Json]:
    """Write one word for another in the answers."""
    last = json.loads(json.dumps(items[-1]).replace(old, new))
    return [*items[:-1], last]


def signed(surface: str) -> Json:
    response = WHOLE[surface](CALLS, "I look.", 1)
    if surface == "anthropic-messages":
        response["content"].insert(0, {"type": "thinking", "thinking": "Well.", "signature": "EuYB"})
    return response


def lost(folder: Path, said: pytest.CaptureFixture[str], surface: str, **how: Any) -> str:
    """Run two exchanges with a spoilt adapter; return what is said of the loss."""
    response = how.pop("response", None) or WHOLE[surface](CALLS, "I look.", 1)
    spoilt = Spoilt(surface, **how)
    assert run(folder, exchange(surface, response=response), spoilt=spoilt) == 1
    found = [line for line in said.readouterr().out.splitlines() if line.startswith("LOST")]
    assert found
    assert all(line.startswith(f"LOST some.jsonl {surface}#1: ") for line in found)
    return "\n".join(found)


@every_surface
def test_a_lost_block_is_found(surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "echo: piece" in lost(tmp_path, capsys, surface, turn=without_last_piece)


@pytest.mark.parametrize("surface", [surface for surface in SURFACES if surface != "openai-chat"])
def test_a_lost_signature_is_found(surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marks = ("signature", "thoughtSignature", "encrypted_content")
    told = lost(tmp_path, capsys, surface, response=signed(surface), turn=lambda turn: without(turn, *marks))
    assert "echo: piece" in told


@every_surface
def test_a_word_that_is_changed_on_the_way_is_found(
    surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def changed(turn: ReadTurn) -> ReadTurn:
        return replace(turn, echo=tuple(json.loads(json.dumps(turn.echo).replace("I look.", "I looked."))))

    assert "echo: piece" in lost(tmp_path, capsys, surface, turn=changed)


@every_surface
def test_a_block_that_never_came_is_found(surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "that went back had not come" in lost(
        tmp_path, capsys, surface, turn=lambda turn: replace(turn, echo=(*turn.echo, turn.echo[-1]))
    )


@every_surface
def test_a_lost_call_is_found(surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = lost(tmp_path, capsys, surface, turn=lambda turn: replace(turn, proposals=turn.proposals[:1]))
    assert "2 calls became 1 proposals" in told


@every_surface
@pytest.mark.parametrize(
    ("members", "word"),
    [
        ({"call_id": "call-9"}, "another id"),
        ({"tool_name": "get_news"}, "another name"),
        ({"arguments": {"city": "Busan"}}, "other arguments"),
        ({"arguments": None, "fault": "invalid_arguments_json"}, "other arguments"),
    ],
)
def test_a_call_that_is_read_otherwise_than_it_came_is_found(
    surface: str, members: Json, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"call 0: {word}" in lost(tmp_path, capsys, surface, turn=lambda turn: with_first_call(turn, **members))


@every_surface
def test_an_answer_under_another_id_is_found(surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = lost(tmp_path, capsys, surface, items=lambda items: renamed(items, "call-2", "call-9"))
    assert "unsound: " in told


@every_surface
def test_a_follow_up_to_another_id_is_found(surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, exchange(surface, followup=accepted(surface, "call-1", "call-9"))) == 1
    assert "followup: answer 1: no such id was answered" in capsys.readouterr().out


def test_rules_that_refuse_what_a_provider_accepted_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [first, second] = accepted("openai-chat", "call-1", "call-2")
    followup = [first, {**second, "content": {"degrees": 22}}]
    assert run(tmp_path, exchange("openai-chat", followup=followup)) == 1
    assert "accepted, and here called unsound: malformed_item at /3/content" in capsys.readouterr().out


@every_surface
def test_answers_in_an_old_follow_up_beside_these_are_no_loss(surface: str, tmp_path: Path) -> None:
    followup = [*ACCEPTED[surface]([("call-0", "get_news")]), *accepted(surface, "call-1", "call-2")]
    assert run(tmp_path, exchange(surface, followup=followup)) == 0


@every_surface
def test_a_lost_answer_is_found(surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "unsound: " in lost(tmp_path, capsys, surface, items=lambda items: items[:-1])


@every_surface
def test_an_answer_that_the_official_package_refuses_is_found(
    surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = ("content", "output", "response", "result")

    def emptied(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                key: 7 if key in contents and not _holds_answers(item) else emptied(item) for key, item in value.items()
            }
        return [emptied(item) for item in value] if isinstance(value, list) else value

    told = lost(tmp_path, capsys, surface, items=lambda items: [*items[:-1], emptied(items[-1])])
    assert "the package refuses answer" in told


def _holds_answers(value: Any) -> bool:
    return isinstance(value, list)


def test_a_member_that_the_official_package_does_not_know_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = lost(tmp_path, capsys, "openai-chat", items=lambda items: [*items[:-1], {**items[-1], "is_error": False}])
    assert "does not know all of answer 1" in told


@every_surface
def test_an_echo_that_does_not_go_first_is_found(
    surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "the echo does not go first" in lost(tmp_path, capsys, surface, items=lambda items: items[::-1])


def test_work_of_the_provider_that_is_not_recorded_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    response = WHOLE["openai-responses"](CALLS, "I look.", 1)
    listed = {"type": "mcp_call", "id": "mcp_1", "server_label": "wiki", "name": "ask", "arguments": "{}"}
    response["output"].insert(0, listed)
    told = lost(tmp_path, capsys, "openai-responses", response=response, turn=lambda turn: replace(turn, hosted=()))
    assert "1 of the provider's own calls not recorded" in told


def test_a_pause_that_is_not_told_and_one_that_was_none_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paused = {**WHOLE["anthropic-messages"]([], "I wait.", 1), "stop_reason": "pause_turn"}
    for response, word in ((paused, "paused, and not said so"), (None, "said to be paused")):
        told = lost(
            tmp_path,
            capsys,
            "anthropic-messages",
            response=response,
            turn=lambda turn: replace(turn, paused=not turn.paused),
        )
        assert word in told


def test_a_response_that_is_read_although_it_was_cut_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Careless(Spoilt):
        def read(self, response: Any) -> ReadTurn:
            return self.good.read({**response, "stop_reason": "tool_use"})

    response = {**WHOLE["anthropic-messages"](CALLS, "I look.", 1), "stop_reason": "max_tokens"}
    spoilt = Careless("anthropic-messages")
    assert run(tmp_path, exchange("anthropic-messages", response=response), spoilt=spoilt) == 1
    assert "read although incomplete_response is right" in capsys.readouterr().out


def test_a_refusal_under_the_wrong_code_and_one_that_is_undeserved_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Refusing(Spoilt):
        def read(self, response: Any) -> ReadTurn:
            raise ResponseRefused("refused_response", [Detail("", "refused", "something else")])

    cut = {**WHOLE["openai-chat"](CALLS, "I look.", 1)}
    cut["choices"][0]["finish_reason"] = "length"
    for response in (cut, WHOLE["openai-chat"](CALLS, "I look.", 1)):
        assert run(tmp_path, exchange("openai-chat", response=response), spoilt=Refusing("openai-chat")) == 1
        assert "LOST some.jsonl openai-chat#1: refused as refused_response" in capsys.readouterr().out


def test_an_adapter_that_breaks_loses_its_exchange_and_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken(Spoilt):
        def read(self, response: Any) -> ReadTurn:
            raise KeyError("s3cret")

        def write(self, turn: ReadTurn, results: Iterable[CallResult]) -> list[Json]:
            raise KeyError("s3cret")

    spoilt = Broken("openai-chat")
    exchanges = (exchange("openai-chat"), exchange("anthropic-messages"), streamed("openai-chat", CHUNKS))
    assert run(tmp_path, *exchanges, spoilt=spoilt) == 1
    said = capsys.readouterr().out
    assert "reading broke: KeyError" in said
    assert "writing broke: KeyError" in said
    assert "s3cret" not in said
    assert last_line(said) == "read 2/3, written 1/2"


def test_a_tool_definition_that_is_no_object_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, exchange("openai-chat", tools=[TOOL, "get_stock"])) == 1
    assert "tool definition 1 is no object" in capsys.readouterr().out


# ── what is no folder of recordings ──

GOOD = exchange("openai-chat")


@pytest.mark.parametrize(
    "line",
    [
        "s3cret",
        '{"id": "s3cret", "id": "s3cret"}',
        '{"id": "s3cret", "n": NaN}',
        '["s3cret"]',
        json.dumps({**GOOD, "id": 7}),
        json.dumps({**GOOD, "surface": "s3cret"}),
        json.dumps({**GOOD, "stream": ""}),
        json.dumps({**GOOD, "response": None}),
        json.dumps({key: GOOD[key] for key in ("id", "surface", "tools", "followup")}),
        json.dumps({**GOOD, "tools": "s3cret"}),
        json.dumps({**GOOD, "followup": {"s3cret": 1}}),
        json.dumps(streamed("openai-chat", []) | {"stream": 7}),
        json.dumps(streamed("openai-chat", []) | {"stream": "data: s3cret\n\n"}),
    ],
)
def test_a_line_that_is_no_exchange_is_named_by_file_and_number_without_what_it_says(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "some.jsonl").write_text(f"{json.dumps(GOOD)}\n\n{line}\n")
    assert recorded.main([str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("some.jsonl, line 3")
    assert "s3cret" not in told.out + told.err


def test_bytes_that_are_no_text_are_named_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "some.jsonl").write_bytes(b"\xff\xfe")
    assert recorded.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == "some.jsonl, line 1: not_utf8\n"


def test_a_folder_that_is_missing_or_holds_no_recording_is_of_no_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (tmp_path / "nowhere", tmp_path):
        assert recorded.main([str(folder)]) == 2
        assert str(folder) in capsys.readouterr().err
