"""From a whole response to what it asks for."""

from collections.abc import Sequence
from typing import Any, Final

from adapters.envelopes import stop_signal
from adapters.envelopes.envelope import ReadTurn, Spent
from adapters.envelopes.openai_responses.calls import proposal_of
from adapters.envelopes.openai_responses.echo import as_input
from adapters.envelopes.openai_responses.endings import STATUSES, ending_of
from adapters.envelopes.openai_responses.hosted import found_tools, hosted_call
from adapters.envelopes.openai_responses.items import Role, roles_of
from adapters.envelopes.shape import (
    as_object,
    as_objects,
    count_or_none,
    member,
    refuse,
    require_distinct_ids,
    require_one_of,
    word_or_none,
)
from workflows.domain.proposal import Proposal

SURFACE: Final = "openai-responses"


def read(response: Any) -> ReadTurn:
    """Read one Response; see `Envelope.read`."""
    root = as_object(response, "")
    require_one_of(root.get("object"), (None, "response"), "/object")
    items = as_objects(root.get("output"), "/output")
    signal, place = ending_of(root)
    stop_signal.require_not_broken_off(signal, place)
    roles = roles_of(items)
    proposals = _proposals(items, roles)
    stop_signal.require_agreement(signal, has_calls=bool(proposals), path=place, table=STATUSES)
    return ReadTurn(
        surface=SURFACE,
        request_id=word_or_none(root.get("id")),
        proposals=proposals,
        echo=as_input(items),
        hosted=tuple(hosted_call(item) for item, role in zip(items, roles, strict=True) if role is Role.HOSTED),
        found=found_tools(items),
        spent=Spent(
            count_or_none(member(root.get("usage"), "output_tokens")), count_or_none(root.get("max_output_tokens"))
        ),
    )


def _proposals(items: Sequence[dict[str, Any]], roles: Sequence[Role]) -> tuple[Proposal, ...]:
    proposals = tuple(
        proposal_of(item, f"/output/{index}")
        for index, (item, role) in enumerate(zip(items, roles, strict=True))
        if role is Role.ASKED
    )
    require_distinct_ids(proposals, "/output")
    for index, item in enumerate(items):
        _require_fit_message(item, f"/output/{index}", beside_calls=bool(proposals))
    return proposals


def _require_fit_message(item: dict[str, Any], path: str, *, beside_calls: bool) -> None:
    if item["type"] != "message":
        return
    require_one_of(item.get("role"), (None, "assistant"), f"{path}/role")
    content = item.get("content")
    for index, part in enumerate(content if isinstance(content, list) else []):
        if beside_calls and isinstance(part, dict) and part.get("type") == "refusal":
            refuse("refused_response", f"{path}/content/{index}", "refused", "calls or a refusal, not both")
