"""A response that took every token it was allowed may have been cut, whatever its stop signal says."""

from typing import Any

import pytest

from adapters.envelopes import SURFACES
from tests.support.responses import ALL_SURFACES, call, response_with
from tests.unit.test_turns import ORDER, Intake
from workflows.domain.errors import ResponseRefused

USAGES: dict[str, dict[str, Any]] = {
    "openai-chat": {"usage": {"completion_tokens": 100}},
    "openai-responses": {"usage": {"output_tokens": 100}},
    "anthropic-messages": {"usage": {"output_tokens": 100}},
    "gemini-generate-content": {"usageMetadata": {"candidatesTokenCount": 60, "thoughtsTokenCount": 40}},
    "gemini-interactions": {"usage": {"total_output_tokens": 60, "total_thought_tokens": 40}},
}


@pytest.mark.parametrize("surface", ALL_SURFACES)
def test_the_tokens_that_a_response_took_are_read(surface: str) -> None:
    response = response_with(surface, call("get_order", ORDER))
    assert SURFACES[surface].read(response | USAGES[surface]).spent.tokens == 100
    assert SURFACES[surface].read(response).spent.tokens is None


@pytest.mark.parametrize("odd", [{"usage": None}, {"usage": []}, {"usage": {"output_tokens": "100"}}, {"usage": True}])
def test_usage_that_is_none_says_nothing(odd: dict[str, Any]) -> None:
    response = response_with("anthropic-messages", call("get_order", ORDER))
    assert SURFACES["anthropic-messages"].read(response | odd).spent.tokens is None


@pytest.mark.parametrize(("limit", "runs"), [(None, True), (101, True), (100, False), (99, False)])
async def test_calls_of_a_response_at_its_limit_are_not_run(limit: int | None, runs: bool) -> None:
    intake = Intake()
    taking = intake.take(call("get_order", ORDER), more=USAGES["anthropic-messages"], output_limit=limit)
    if runs:
        assert len((await taking).results) == 1
    else:
        with pytest.raises(ResponseRefused) as refused:
            await taking
        assert (refused.value.code, refused.value.details[0].code) == ("incomplete_response", "at_the_limit")
        assert intake.world.operations == {}


def test_a_surface_that_repeats_the_limit_needs_nobody_to_tell_it() -> None:
    response = response_with("openai-responses", call("get_order", ORDER)) | {"max_output_tokens": 100}
    assert SURFACES["openai-responses"].read(response).spent.allowed == 100
