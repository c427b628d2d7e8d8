"""What must hold over everything that the demonstration did."""

from examples.demo.stage import Stage


async def tell(stage: Stage) -> None:
    """One line for each invariant, with its measured value."""
    stage.telling.heading("6. Over everything above")
    check, measured = stage.telling.check, stage.invariants
    effects = (await stage.provider.ledger()).effects_by_operation
    check("operations still open", await measured.open_operations(), 0)
    check("operations with an effect", len(effects), 2)
    check("most effects of one operation, at the provider", max(effects.values(), default=0), 1)
    check("terminal results per operation (least / most)", await measured.terminal_results_per_operation(), (1, 1))
    check("intent hashes per idempotency key (least / most)", await measured.intent_hashes_per_key(), (1, 1))
    check("operations per receipt (least / most)", await measured.operations_per_receipt(), (1, 1))
    check("handler calls after a refusal", await measured.handler_calls_after_refusal(), 0)
