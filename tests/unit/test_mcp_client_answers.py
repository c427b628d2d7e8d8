"""What a server's result is read as, without any server."""

from typing import Any

import pytest

from adapters.mcp.client.answers import Uncertain, answer_in

Json = dict[str, Any]

LARGE = {"rows": ["x" * 1000] * 2000}


def result(structured: Any) -> Json:
    return {"content": [], "structuredContent": structured}


@pytest.mark.parametrize("schema", [None, {"type": "object"}])
@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_what_is_no_json_is_no_result_with_or_without_a_schema(schema: Json | None, number: float) -> None:
    with pytest.raises(Uncertain) as doubt:
        answer_in(result({"total": [number]}), schema)
    assert doubt.value.code == "effect_mismatch"


@pytest.mark.parametrize("schema", [None, {"type": "object"}])
def test_a_result_may_be_as_large_as_a_message(schema: Json | None) -> None:
    assert answer_in(result(LARGE), schema).structured == LARGE
