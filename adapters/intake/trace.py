"""What the log is told of a turn: ids, versions, verdicts and hashes; no argument and no result."""

from collections.abc import Sequence

import structlog

from adapters.intake.ports import Registered, Turn
from workflows.domain.proposal import CallResult

log = structlog.get_logger(__name__)


def calls(turn: Turn, registered: Sequence[Registered], results: Sequence[CallResult]) -> None:
    """One line for each call, and one for each that the provider has run itself."""
    for call, found, result in zip(turn.calls, registered, results, strict=True):
        log.info(
            "call",
            request_id=turn.request_id,
            call_id=call.proposal.call_id,
            surface=turn.surface,
            tenant=turn.principal.tenant,
            tool=call.intent.tool if call.intent else None,
            tool_version=call.intent.tool_version if call.intent else None,
            verdicts={verdict.layer.value: verdict.code or "passed" for verdict in call.verdicts},
            receipt=found.receipt.value,
            operation_id=found.operation_id,
            intent_hash=found.intent_hash or None,
            status=result.status.value,
            code=result.error.code if result.error else None,
            final=result.final,
        )
    for seen in turn.hosted:
        log.info("hosted_call", request_id=turn.request_id, item_id=seen.item_id, kind=seen.kind, code=seen.code)


def left_to_the_relay(failures: Sequence[str], late: int) -> None:
    """Some starts have failed or taken too long."""
    log.warning("start_left_to_the_relay", failures=failures, late=late)


def left_out(surface: str, tools: Sequence[str]) -> None:
    """One line for each tool that a surface does not take, so that nobody there is offered it."""
    for tool in tools:
        log.warning("tool_left_out", surface=surface, tool=tool)
