"""Gemini generateContent: which contents the API would refuse because of their calls and results."""

from typing import Any

import pytest

from adapters.envelopes.transcript import TranscriptRefused, require_sound

SURFACE = "gemini-generate-content"

Part = dict[str, Any]
Content = dict[str, Any]


def text(words: str = "How warm is it?") -> Part:
    return {"text": words}


def call(name: str = "get_weather", *, signed: str | None = None, **more: Any) -> Part:
    signature = {} if signed is None else {"thoughtSignature": signed}
    return {"functionCall": {"name": name, "args": {}, **more}, **signature}


def result(name: Any = "get_weather", response: Any = None, **more: Any) -> Part:
    return {"functionResponse": {"name": name, "response": {"output": 22} if response is None else response, **more}}


def user(*parts: Part) -> Content:
    return {"role": "user", "parts": list(parts) or [text()]}


def model(*parts: Part) -> Content:
    return {"role": "model", "parts": list(parts)}


def step(*, signed: str | None) -> list[Content]:
    return [model(call(signed=signed)), user(result())]


NULL_RESPONSE = {"functionResponse": {"name": "get_weather", "response": None}}

SOUND = {
    "no calls": [user(), model(text("Warm."))],
    "no contents": [],
    "one call, one result": [user(), model(text(), call()), user(result())],
    "calls with ids, results in another order": [
        user(),
        model(call("a", id="1"), call("b", id="2")),
        user(result("b", id="2"), result("a", id="1")),
    ],
    "calls without ids, results in order": [user(), model(call("a"), call("b")), user(result("a"), result("b"))],
    "results that leave the ids out": [
        user(),
        model(call("a", id="1"), call("b", id="2")),
        user(result("a"), result("b")),
    ],
    "the same id in two turns": [
        user(),
        model(call(id="1")),
        user(result(id="1")),
        model(call(id="1")),
        user(result(id="1")),
    ],
    "results of the old role": [user(), model(call()), {"role": "function", "parts": [result()]}],
    "a content without a role is the user's": [{"parts": [text()]}, model(call()), {"parts": [result()]}],
    "members in the package's form": [
        user(),
        model({"function_call": {"name": "f"}}),
        user({"function_response": {"name": "f", "response": {}}}),
    ],
    "a text that is empty": [user(), model(text(""), call()), user(result())],
    "media inside a result": [user(), model(call()), user(result(parts=[{"inlineData": {}}]))],
    "what the provider did itself": [user(), model({"toolCall": {}}, {"toolResponse": {}}, text())],
    "signed steps": [user(), *step(signed="Eu"), *step(signed="Ev")],
    "a model that signs nothing": [user(), *step(signed=None), *step(signed=None)],
    "only the first of parallel calls is signed": [user(), model(call(signed="Eu"), call()), user(result(), result())],
    "a signature before the call": [user(), model({"text": "", "thoughtSignature": "Eu"}, call()), user(result())],
    "an earlier turn that is not signed": [user(), *step(signed=None), user(), *step(signed="Eu")],
    "an answer behind signed steps": [user(), *step(signed="Eu"), model(text())],
}

UNSOUND: dict[str, tuple[list[Any], str, str]] = {
    "a call at the end without its result": ([user(), model(call())], "unanswered_call", "/1/parts/0/functionCall"),
    "a call, then words": ([user(), model(call()), user()], "unanswered_call", "/1/parts/0/functionCall"),
    "a result one content later": ([user(), model(call()), user(), user(result())], "misplaced_result", "/2"),
    "fewer results than calls": ([user(), model(call(), call()), user(result())], "wrong_count", "/2/parts"),
    "more results than calls": ([user(), model(call()), user(result(), result())], "wrong_count", "/2/parts"),
    "a result without a call": ([user(), user(result())], "unasked_result", "/1/parts/0/functionResponse"),
    "a result in the first content": ([user(result())], "unasked_result", "/0/parts/0/functionResponse"),
    "a result that the model gives": (
        [user(), model(call()), model(result())],
        "misplaced_result",
        "/2/parts/0/functionResponse",
    ),
    "a result under another id": (
        [user(), model(call(id="1")), user(result(id="2"))],
        "unasked_result",
        "/2/parts/0/functionResponse/id",
    ),
    "a result with an id for a call without one": (
        [user(), model(call()), user(result(id="1"))],
        "unasked_result",
        "/2/parts/0/functionResponse/id",
    ),
    "two results under one id": (
        [user(), model(call(id="1"), call(id="2")), user(result(id="1"), result(id="1"))],
        "repeated_result",
        "/2/parts/1/functionResponse",
    ),
    "two results for the first call": (
        [user(), model(call(id="1"), call(id="2")), user(result(), result(id="1"))],
        "repeated_result",
        "/2/parts/1/functionResponse",
    ),
    "one id for two calls": (
        [user(), model(call(id="1"), call(id="1")), user(result(id="1"), result(id="1"))],
        "repeated_call_id",
        "/1/parts/1/functionCall/id",
    ),
    "results without ids in another order": (
        [user(), model(call("a"), call("b")), user(result("b"), result("a"))],
        "name_mismatch",
        "/2/parts/0/functionResponse/name",
    ),
    "a result that names another tool": (
        [user(), model(call("a", id="1")), user(result("b", id="1"))],
        "name_mismatch",
        "/2/parts/0/functionResponse/name",
    ),
    "a result that names no tool": (
        [user(), model(call()), user(result(None))],
        "malformed_item",
        "/2/parts/0/functionResponse/name",
    ),
    "a result that is null": (
        [user(), model(call()), user(NULL_RESPONSE)],
        "null_content",
        "/2/parts/0/functionResponse/response",
    ),
    "a result that is text": (
        [user(), model(call()), user(result(response="22"))],
        "malformed_item",
        "/2/parts/0/functionResponse/response",
    ),
    "words beside results": ([user(), model(call()), user(result(), text())], "misplaced_part", "/2/parts/1"),
    "a call in the first content": ([model(call()), user(result())], "misplaced_call", "/0/parts/0/functionCall"),
    "a call behind words of the model": (
        [user(), model(text()), model(call()), user(result())],
        "misplaced_call",
        "/2/parts/0/functionCall",
    ),
    "a call that the user makes": (
        [user(), user(call()), user(result())],
        "misplaced_call",
        "/1/parts/0/functionCall",
    ),
    "a content without parts": ([{"role": "user", "parts": []}], "empty_content", "/0/parts"),
    "parts that are null": ([{"role": "user", "parts": None}], "malformed_item", "/0/parts"),
    "a part that holds nothing": ([user(text(), {"thought": True})], "empty_content", "/0/parts/1"),
    "a call that is no object": ([user(), model({"functionCall": "f"})], "malformed_item", "/1/parts/0/functionCall"),
    "a second step without its signature": (
        [user(), *step(signed="Eu"), *step(signed=None)],
        "missing_signature",
        "/3/parts/0",
    ),
    "a first step without its signature": (
        [user(), *step(signed=""), *step(signed="Eu")],
        "missing_signature",
        "/1/parts/0",
    ),
    "a signature that moved to the second of two calls": (
        [user(), model(call(), call(signed="Eu")), user(result(), result())],
        "missing_signature",
        "/1/parts/0",
    ),
    "an id that is a number": (
        [user(), model(call(id=1)), user(result(id=1))],
        "malformed_item",
        "/1/parts/0/functionCall/id",
    ),
}


@pytest.mark.parametrize("contents", SOUND.values(), ids=list(SOUND))
def test_what_the_api_takes_is_sound(contents: list[Content]) -> None:
    require_sound(SURFACE, contents)


@pytest.mark.parametrize(("contents", "code", "path"), UNSOUND.values(), ids=list(UNSOUND))
def test_what_the_api_refuses_is_refused_with_its_place(contents: list[Any], code: str, path: str) -> None:
    with pytest.raises(TranscriptRefused) as refused:
        require_sound(SURFACE, contents)
    assert (refused.value.code, refused.value.path) == (code, path)


@pytest.mark.parametrize(
    "part",
    [
        {"inlineData": {}},
        {"fileData": {}},
        {"executableCode": {}},
        {"codeExecutionResult": {}},
        {"toolCall": {}},
        {"toolResponse": {}},
        {"audioTranscription": {}},
        {"inline_data": {}},
        {"file_data": {}},
        {"executable_code": {}},
        {"code_execution_result": {}},
        {"tool_call": {}},
        {"tool_response": {}},
        {"audio_transcription": {}},
    ],
    ids=lambda part: next(iter(part)),
)
def test_a_part_of_each_kind_holds_something(part: Part) -> None:
    require_sound(SURFACE, [user(), model(part)])


def test_a_signature_in_the_packages_form_counts() -> None:
    signed = model({"thought_signature": "Eu", "function_call": {"name": "get_weather"}})
    with pytest.raises(TranscriptRefused) as refused:
        require_sound(SURFACE, [user(), signed, user(result()), *step(signed=None)])
    assert (refused.value.code, refused.value.path) == ("missing_signature", "/3/parts/0")
