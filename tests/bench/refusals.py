"""The same refund, refused by each layer: whoever sends unfit calls must not make the gate work harder."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from adapters.authorization.cedar import CedarAuthorizer
from adapters.authorization.policy_file import read_policy
from adapters.tools.family import families
from tests.bench.measuring import Contestant
from tests.bench.refund import Case, Shop, response_bytes, toolbox
from tests.support.proposals import CALLER, CATALOG, NAMES
from tests.support.steps import STRICT

REFUSED: Final = "refused · "
"""How their names begin; the code that answers follows."""

NO_ORDERS: Final = 'forbid (principal, action == Action::"call", resource) when { resource.kind == "order" };'

VIEWER: Final = replace(CALLER, roles=frozenset({"viewer"}))

TWO_FAULTS: Final[dict[str, Any]] = {"amount": "12000", "confirmed": True}


def refusals(case: Case) -> Sequence[Contestant]:
    """In the order of the layers, given the refund that passes.

    Raises:
        ValueError: a call is not refused as its name says.
    """
    return [*_by_the_door(case), *_by_the_worker(case)]


def _by_the_door(case: Case) -> Sequence[Contestant]:
    repeated, unreadable = b'{"id": "other", ' + case.response[1:], case.response.replace(b"12000", b"12_000")
    return [
        _refused("duplicate_key", "parse: a key twice in the response", _with(case, repeated)),
        _refused("incomplete_response", "envelope: cut off", _with(case, response_bytes(case.surface, stop="length"))),
        _refused("invalid_arguments_json", "parse: arguments that are no JSON", _with(case, unreadable)),
        _refused("unknown_tool", "exposure: no such tool", _with(case, response_bytes(case.surface, "refund_all"))),
        _refused("tool_not_allowed", "exposure: not for a viewer", replace(case, caller=VIEWER)),
        _refused("invalid_arguments", "schema: two faults", _with(case, response_bytes(case.surface, **TWO_FAULTS))),
    ]


def _by_the_worker(case: Case) -> Sequence[Contestant]:
    used, foreign = Shop(quote_state="consumed"), Shop(merchant="tenant-b")
    return [
        _refused("quote_consumed", "business: the quote was used", replace(case, tools=toolbox(used))),
        _refused("not_found", "authorization: a foreign order", replace(case, tools=toolbox(foreign))),
        _refused("permission_denied", "authorization: the policy says no", replace(case, authorizer=_forbidding())),
        _refused("approval_required", "risk: a person must be asked first", replace(case, policy=STRICT)),
    ]


def _refused(code: str, about: str, case: Case) -> Contestant:
    return Contestant(REFUSED + code, about, case.answered_with(code).gate)


def _with(case: Case, response: bytes) -> Case:
    return replace(case, response=response)


def _forbidding() -> CedarAuthorizer:
    """The shipped policy with one rule more, so that the tool is offered and its use on an order is not allowed."""
    shipped = [read_policy(), *(family.policy for family in families(NAMES.tools))]
    return CedarAuthorizer("\n".join([*shipped, NO_ORDERS]), CATALOG.all())
