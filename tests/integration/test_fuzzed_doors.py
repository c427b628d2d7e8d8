"""Whatever fits the description of a route, and whatever does not, is answered as the description says."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.faults.refunds import Refund
from tests.support.described import DOCUMENT, OPERATIONS
from tests.support.onceward import Onceward
from worker.dev.layout import BACK_OFFICE_AUDIENCE

SEED = 20_260_302
EACH = 15
"""Cases of each route and each kind."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

DESCRIPTION = schemathesis.openapi.from_dict(DOCUMENT)

HOW = settings(
    max_examples=EACH,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
async def known(onceward: Onceward) -> dict[str, str]:
    """Ids that there are, so that not everything ends at an id that there is not."""
    refund = await Refund.proposed(onceward)
    await onceward.until(refund.operation_id, "awaiting_approval")
    (question,) = await onceward.approvals(refund.operation_id)
    return {"operation_id": refund.operation_id, "approval_id": question.approval_id}


def token(onceward: Onceward, operation: dict[str, Any]) -> str:
    if operation["security"] == [{"caller": []}]:
        return onceward.token()
    roles = ["approver:refunds", "operator"]
    return onceward.token(subject="approver-1", roles=roles, agent="", audience=BACK_OFFICE_AUDIENCE)


ROUTES = [
    (method, path, of_known)
    for method, path, _ in OPERATIONS
    for of_known in ([True, False] if "{" in path else [False])
]


@pytest.mark.parametrize("mode", GenerationMode, ids=["what fits", "what does not fit"])
@pytest.mark.parametrize(("method", "path", "of_known"), ROUTES)
def test_a_route_answers_whatever_comes_as_it_is_described(
    onceward: Onceward, known: dict[str, str], method: str, path: str, mode: GenerationMode, of_known: bool
) -> None:
    headers = {"Authorization": f"Bearer {token(onceward, DOCUMENT['paths'][path][method.lower()])}"}
    ids = {name: value for name, value in known.items() if of_known and f"{{{name}}}" in path}
    cases = DESCRIPTION[path][method].as_strategy(mode, path_parameters=ids or None)

    @seed(SEED)
    @HOW
    @given(case=cases)
    def answers(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(base_url=onceward.stack.links.door, headers=headers, checks=CHECKS)

    answers()
