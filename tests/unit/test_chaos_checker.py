"""The judge of the chaos runs finds what is planted, and finds nothing where nothing is."""

import copy
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.checker import check
from tests.chaos.evidence import Answer, Asked, Audit, Evidence, Resolved, Row, Said, Wish, kept
from tests.chaos.findings import BROKEN, DUPLICATE, ENDS, FORBIDDEN, LOST, STUCK, WRONG

Told = dict[str, Any]

REFUND = Asked("call-1", ("r-1", "r-1-again"), "tenant-a", "refund_payment", "keyed", "O-1", 50_001, approvers=1)
DENIED = Asked("call-2", ("r-2",), "tenant-a", "refund_payment", "keyed", "O-2", 50_002, approvers=1)
CREDIT = Asked("call-3", ("r-3",), "tenant-a", "credit_account", "fenced", "CA-3", 1_003, approvers=0)
READ = Asked("call-4", ("r-4",), "tenant-a", "get_order", "read", "O-4", 50_004, approvers=0)
FOREIGN = Asked("call-5", ("r-5",), "tenant-b", "refund_payment", "keyed", "O-5", 50_005, approvers=1, allowed=False)
BATCH = Asked(
    "call-6", ("r-6",), "tenant-a", "credit_accounts", "batch", "B-3", 10_006, approvers=1, items=("B-1", "B-2", "B-3")
)
FOUND = Asked("call-7", ("r-7",), "tenant-a", "refund_payment", "keyed", "O-7", 50_007, approvers=1)
GIVEN_UP = Asked("call-8", ("r-8",), "tenant-a", "refund_payment", "keyed", "O-8", 50_008, approvers=1)
CANCELLED = Asked("call-9", ("r-9",), "tenant-a", "refund_payment", "keyed", "O-9", 50_009, approvers=1)

PARTIAL: dict[str, Any] = {
    "outcome": "partial",
    "succeeded": ["B-1", "B-2"],
    "failed": [{"item": "B-3", "code": "account_closed"}],
    "unconfirmed": [],
}

SUCCESS = {"refund_id": "rf-1", "order_id": "O-1", "amount": 50_001, "currency": "KRW"}


def result(call_id: str, operation_id: str | None, status: str, *, final: bool = True, **told: Any) -> Told:
    return {"call_id": call_id, "operation_id": operation_id, "status": status, "final": final, **told}


def failed(call_id: str, operation_id: str | None, code: str, *, final: bool = True) -> Told:
    status = "failed_terminal" if final else "failed_retryable"
    return result(call_id, operation_id, status, final=final, error={"code": code})


def answer(request_id: str, *results: Told, at: float = 1.0, how: str = "first") -> Answer:
    told = {each["call_id"]: each for each in results}
    asked = tuple(each["call_id"] for each in results)
    return Answer(how, "api", request_id, at, at + 0.5, 200, results, told, asked)


def moment(second: float) -> datetime:
    return datetime(2026, 1, 5, 12, tzinfo=UTC) + timedelta(seconds=second)


def operation(
    operation_id: str, state: str, code: str | None = None, tool: str = "refund_payment", *, ended: float = 5.0
) -> Row:
    return {
        "created_at": moment(0),
        "ended_at": moment(ended) if state in ENDS else None,
        "operation_id": operation_id,
        "state": state,
        "code": code,
        "tool": tool,
        "reference": None,
        "writes": tool in ("refund_payment", "credit_account", "credit_accounts"),
    }


def recorded(request_id: str, call_id: str, operation_id: str, *, attached: bool = False) -> Row:
    return {"request_id": request_id, "call_id": call_id, "operation_id": operation_id, "attached": attached}


def refund(number: int, operation_id: str, target: str, amount: int, key: str = "", *, at: float = 4.0) -> Row:
    return {
        "created_at": moment(at),
        "refund_id": f"rf-{number}",
        "client_reference": operation_id,
        "order_id": target,
        "amount": amount,
        "currency": "KRW",
        "idempotency_key": key or f"key-{operation_id}",
    }


def order(target: str, refunded: int) -> tuple[Row, Row]:
    return {"order_id": target, "payment_id": f"pay-{target}"}, {"payment_id": f"pay-{target}", "refunded": refunded}


def claim(operation_id: str, item: str = "", *, uncertain: bool = False) -> Row:
    return {"operation_id": operation_id, "item": item, "generation": 1, "uncertain": uncertain}


def entry(operation_id: str, account: str, amount: int, item: str = "", *, at: float = 4.0) -> Row:
    return {
        "at": moment(at),
        "entry_id": f"cr-{account[-1]}",
        "operation_id": operation_id,
        "item": item,
        "account_id": account,
        "minor_units": amount,
        "currency": "KRW",
    }


def wish(operation_id: str, told: str, state: str, code: str = "", *, at: float = 3.0) -> Wish:
    standing: Told = {"state": state, "final": state in ENDS, "cancellation": {"code": told}}
    if code:
        standing["error"] = {"code": code}
    return Wish(operation_id, f"call-{operation_id[-1]}", "asked", "api", at, at + 0.5, 200, standing)


@pytest.fixture
def clean() -> Evidence:
    """One act of each kind, each ended as it should."""
    made = result("call-1", "op-1", "succeeded", data=SUCCESS)
    credit = {"entry_id": "cr-3", "account_id": "CA-3", "amount": 1_003, "currency": "KRW"}
    read = {"order_id": "O-4", "paid": 200_000}
    sums = {"O-1": 50_001, "O-2": 0, "O-4": 0, "O-5": 0, "O-7": 50_007, "O-8": 50_008, "O-9": 0}
    orders, payments = zip(*(order(target, refunded) for target, refunded in sums.items()), strict=True)
    given_up = failed("call-8", "op-8", "outcome_abandoned")
    given_up["error"]["kind"] = "unconfirmed"
    sent = ("op-1", "op-3", "op-7", "op-8")
    return Evidence(
        seed=7,
        acts=(REFUND, DENIED, CREDIT, READ, FOREIGN, BATCH, FOUND, GIVEN_UP, CANCELLED),
        answers=(
            answer("r-1", failed("call-1", "op-1", "approval_required", final=False)),
            answer("r-1", made, at=5.0, how="final"),
            answer("r-2", failed("call-2", "op-2", "approval_denied")),
            answer("r-3", result("call-3", "op-3", "succeeded", data=credit)),
            answer("r-4", result("call-4", "op-4", "succeeded", data=read)),
            answer("r-5", failed("call-5", "op-5", "not_found")),
            answer("r-6", result("call-6", "op-6", "succeeded", data=PARTIAL)),
            answer("r-7", result("call-7", "op-7", "succeeded", data={"reference": "rf-7"})),
            answer("r-8", given_up),
            answer("r-9", failed("call-9", "op-9", "canceled")),
            answer("r-1", failed("call-1", None, "idempotency_conflict"), at=2.0, how="tampered"),
        ),
        said=(
            Said("op-1", "ap-1", "approver-1", "approve", 200),
            Said("op-2", "ap-2", "approver-1", "deny", 200),
            *(Said(f"op-{each}", f"ap-{each}", "approver-1", "approve", 200) for each in (6, 7, 8)),
        ),
        wishes=(
            wish("op-9", "canceled", "failed_terminal", "canceled"),
            wish("op-1", "cancel_too_late", "succeeded", at=9.0),
        ),
        resolved=(
            Resolved("op-7", "operator-1", "happened", "rf-7", 200),
            Resolved("op-8", "operator-1", "abandoned", "", 200),
        ),
        audits=(Audit("at the end", 0, "verify: sound, 9 operations, 0 in manual review"),),
        tables={
            "operations": [
                operation("op-1", "succeeded"),
                operation("op-2", "failed_terminal", "approval_denied"),
                operation("op-3", "succeeded", tool="credit_account"),
                operation("op-4", "succeeded", tool="get_order"),
                operation("op-5", "failed_terminal", "not_found"),
                operation("op-6", "succeeded", tool="credit_accounts") | {"result": json.dumps(PARTIAL)},
                operation("op-7", "succeeded") | {"reference": "rf-7"},
                operation("op-8", "failed_terminal", "outcome_abandoned"),
                operation("op-9", "failed_terminal", "canceled"),
            ],
            "calls": [recorded(f"r-{number}", f"call-{number}", f"op-{number}") for number in range(1, 10)],
            "approvals": [
                {"operation_id": "op-1", "approval_id": "ap-1", "state": "consumed"},
                {"operation_id": "op-2", "approval_id": "ap-2", "state": "denied"},
                *({"operation_id": f"op-{n}", "approval_id": f"ap-{n}", "state": "consumed"} for n in (6, 7, 8)),
                {"operation_id": "op-9", "approval_id": "ap-9", "state": "void"},
            ],
            "claims": [claim(each) for each in sent] + [claim("op-6", each) for each in BATCH.items],
            "handler_calls": [{"operation_id": each} for each in sent],
            "resolutions": [
                {"operation_id": "op-7", "finding": "happened", "operator": "operator-1"},
                {"operation_id": "op-8", "finding": "abandoned", "operator": "operator-1"},
            ],
            "refunds": [
                refund(1, "op-1", "O-1", 50_001),
                refund(7, "op-7", "O-7", 50_007),
                refund(8, "op-8", "O-8", 50_008),
            ],
            "posts": [{"client_reference": "op-1", "idempotency_key": "key-op-1"}],
            "orders": list(orders),
            "payments": list(payments),
            "ledger_entries": [
                entry("op-3", "CA-3", 1_003),
                entry("op-6", "B-1", 10_006, "B-1"),
                entry("op-6", "B-2", 10_006, "B-2"),
            ],
            "ledger_accounts": [
                {"account_id": account, "balance": balance}
                for account, balance in {"CA-3": 1_003, "B-1": 10_006, "B-2": 10_006, "B-3": 0}.items()
            ],
        },
        workflows={f"op-{number}": ["COMPLETED"] for number in (1, 2, 3, 5, 6, 7, 8, 9)},
    )


def with_rows(evidence: Evidence, table: str, *rows: Row) -> Evidence:
    return replace(evidence, tables={**evidence.tables, table: [*evidence.rows(table), *rows]})


def with_change(evidence: Evidence, table: str, place: int, **changes: Any) -> Evidence:
    tables = copy.deepcopy(dict(evidence.tables))
    tables[table][place] |= changes
    return replace(evidence, tables=tables)


def with_answer(evidence: Evidence, *more: Answer) -> Evidence:
    return replace(evidence, answers=(*evidence.answers, *more))


def kinds(evidence: Evidence) -> set[str]:
    return {finding.kind for finding in check(evidence).findings}


def test_clean_evidence_passes(clean: Evidence) -> None:
    verdict = check(clean)
    assert verdict.findings == ()
    assert (verdict.histogram, verdict.items) == ({0: 3, 1: 4}, {0: 1, 1: 2})
    assert verdict.sentence == "faults: 9 operations, 0 duplicates, 0 lost, 0 wrong answers, 0 in manual review, seed 7"


def test_a_double_refund_is_found_even_under_two_operations(clean: Evidence) -> None:
    twice = with_rows(clean, "refunds", refund(2, "op-9", "O-1", 50_001))
    assert DUPLICATE in kinds(twice)
    assert check(twice).histogram == {0: 3, 1: 3, 2: 1}


def test_a_double_refund_of_one_operation_is_found(clean: Evidence) -> None:
    assert DUPLICATE in kinds(with_rows(clean, "refunds", refund(2, "op-1", "O-1", 50_001)))


def test_a_second_key_is_found_even_when_the_service_refused_it(clean: Evidence) -> None:
    assert kinds(with_rows(clean, "posts", {"client_reference": "op-1", "idempotency_key": "other"})) == {DUPLICATE}


def test_a_total_that_its_effects_do_not_explain_is_found(clean: Evidence) -> None:
    assert kinds(with_change(clean, "payments", 0, refunded=100_002)) == {DUPLICATE}
    assert kinds(with_change(clean, "ledger_accounts", 0, balance=2_006)) == {DUPLICATE}


def test_a_lost_refund_is_found(clean: Evidence) -> None:
    left = [row for row in clean.rows("refunds") if row["client_reference"] != "op-1"]
    lost = with_change(replace(clean, tables={**clean.tables, "refunds": left}), "payments", 0, refunded=0)
    assert kinds(lost) == {LOST}
    assert "1 lost" not in check(clean).sentence
    assert "2 lost" in check(lost).sentence


def test_an_act_that_was_never_answered_is_found(clean: Evidence) -> None:
    silent = replace(clean, answers=tuple(each for each in clean.answers if each.request_id != "r-3"))
    assert kinds(silent) == {LOST}


def test_an_operation_that_was_promised_and_is_gone_is_found(clean: Evidence) -> None:
    tables = {**clean.tables, "operations": [row for row in clean.rows("operations") if row["operation_id"] != "op-4"]}
    assert kinds(replace(clean, tables=tables)) == {LOST}


def test_a_failure_that_was_told_of_something_that_happened_is_found(clean: Evidence) -> None:
    wrong = with_answer(clean, answer("r-1-again", failed("call-1", "op-1", "upstream_unavailable")))
    assert kinds(wrong) == {WRONG}


def test_two_different_final_answers_are_found(clean: Evidence) -> None:
    other = result("call-1", "op-1", "succeeded", data={**SUCCESS, "refund_id": "rf-2"})
    assert kinds(with_answer(clean, answer("r-1", other, at=9.0))) == {WRONG}


def test_a_final_answer_that_is_taken_back_is_found(clean: Evidence) -> None:
    back = answer("r-1", failed("call-1", "op-1", "reconciliation_pending", final=False), at=9.0, how="later")
    again = answer("r-1", clean.answers[1].results[0], at=10.0, how="final")
    assert kinds(with_answer(clean, back, again)) == {WRONG}


def test_an_open_answer_on_its_way_while_the_final_one_came_is_no_fault(clean: Evidence) -> None:
    late = answer("r-1", failed("call-1", "op-1", "operation_in_progress", final=False), at=5.2, how="later")
    assert kinds(with_answer(clean, late, answer("r-1", clean.answers[1].results[0], at=10.0))) == set()


def test_another_calls_result_is_found(clean: Evidence) -> None:
    crossed = result("call-4", "op-4", "succeeded", data={"order_id": "O-1", "paid": 1})
    answers = [each for each in clean.answers if each.request_id != "r-4"]
    assert kinds(replace(clean, answers=(*answers, answer("r-4", crossed)))) == {WRONG}


def test_a_success_that_is_told_before_its_end_is_found(clean: Evidence) -> None:
    early = result("call-1", "op-1", "succeeded", final=False, data=SUCCESS)
    assert WRONG in kinds(with_answer(clean, answer("r-1", early, at=2.0, how="later")))


def test_a_model_that_is_told_something_else_than_its_caller_is_found(clean: Evidence) -> None:
    said = clean.answers[1]
    other = replace(said, told={"call-1": failed("call-1", "op-1", "internal_error")})
    assert kinds(with_answer(clean, other)) == {WRONG}


def test_other_arguments_under_taken_ids_that_are_not_refused_are_found(clean: Evidence) -> None:
    taken = answer("r-1", clean.answers[1].results[0], at=9.0, how="tampered")
    assert kinds(with_answer(clean, taken)) == {WRONG}


def test_a_last_answer_that_denies_the_end_is_found(clean: Evidence) -> None:
    held = tuple(each for each in clean.answers if each.how != "final")
    assert kinds(replace(clean, answers=held)) == {WRONG}


def test_an_effect_after_a_denial_is_found(clean: Evidence) -> None:
    denied = with_rows(with_change(clean, "payments", 1, refunded=50_002), "refunds", refund(2, "op-2", "O-2", 50_002))
    assert FORBIDDEN in kinds(denied)


def test_an_effect_without_an_approval_is_found(clean: Evidence) -> None:
    assert kinds(with_change(clean, "approvals", 0, state="void")) == {FORBIDDEN}
    assert kinds(replace(clean, said=clean.said[1:])) == {FORBIDDEN}


def test_a_yes_that_was_refused_is_no_approval(clean: Evidence) -> None:
    refused = replace(clean.said[0], status=409)
    assert kinds(replace(clean, said=(refused, *clean.said[1:]))) == {FORBIDDEN}


@pytest.mark.parametrize("status", [None, 500, 503])
def test_a_yes_whose_fate_nobody_knows_may_have_counted(clean: Evidence, status: int | None) -> None:
    unheard = replace(clean.said[0], status=status)
    assert kinds(replace(clean, said=(unheard, *clean.said[1:]))) == set()


def test_one_word_where_two_are_needed_is_found(clean: Evidence) -> None:
    assert kinds(replace(clean, acts=(replace(REFUND, approvers=2), *clean.acts[1:]))) == {FORBIDDEN}


def test_an_effect_on_another_tenants_order_is_found(clean: Evidence) -> None:
    assert FORBIDDEN in kinds(with_rows(clean, "refunds", refund(2, "op-5", "O-5", 50_005)))


def test_an_effect_that_nobody_asked_for_is_found(clean: Evidence) -> None:
    assert FORBIDDEN in kinds(with_rows(clean, "refunds", refund(2, "op-unknown", "O-77", 5)))


def test_a_handler_that_was_called_for_a_denied_operation_is_found(clean: Evidence) -> None:
    assert kinds(with_rows(clean, "handler_calls", {"operation_id": "op-2"})) == {FORBIDDEN}


@pytest.mark.parametrize("state", ["proposed", "awaiting_approval", "started", "unconfirmed", "manual_review"])
def test_a_stuck_operation_is_found(clean: Evidence, state: str) -> None:
    waiting = answer("r-2", failed("call-2", "op-2", "operation_in_progress", final=False), at=9.0)
    answers = tuple(each for each in clean.answers if each.request_id != "r-2")
    stuck = replace(with_change(clean, "operations", 1, state=state, code=None), answers=(*answers, waiting))
    assert kinds(stuck) == {STUCK}


def test_manual_review_with_a_reason_is_no_fault_and_is_counted(clean: Evidence) -> None:
    waiting = answer("r-2", failed("call-2", "op-2", "reconciliation_pending", final=False), at=9.0)
    answers = tuple(each for each in clean.answers if each.request_id != "r-2")
    asked = replace(with_change(clean, "operations", 1, state="manual_review", code=None), answers=(*answers, waiting))
    doubtful = with_rows(asked, "claims", claim("op-2", uncertain=True))
    assert kinds(doubtful) == {STUCK}
    verdict = check(with_rows(doubtful, "reasons", {"operation_id": "op-2", "why": "lookup_failed"}))
    assert verdict.findings == ()
    assert verdict.in_manual_review == {"op-2": "lookup_failed"}


def test_a_workflow_that_did_not_close_is_found(clean: Evidence) -> None:
    assert kinds(replace(clean, workflows={**clean.workflows, "op-1": ["COMPLETED", "RUNNING"]})) == {STUCK}
    assert kinds(replace(clean, workflows={**clean.workflows, "op-1": ["FAILED"]})) == {STUCK}
    assert kinds(replace(clean, workflows={**clean.workflows, "op-1": ["TERMINATED", "COMPLETED"]})) == set()


def test_evidence_that_was_kept_is_judged_alike(clean: Evidence, tmp_path: Path) -> None:
    clean.keep(tmp_path / "evidence.json")
    assert check(kept(tmp_path / "evidence.json")) == check(clean)


# -- batches


def with_batch(evidence: Evidence, *, stored: bool = True, **lists: Any) -> Evidence:
    """With that told of the batch, and stored unless only the caller was told so."""
    data = {**PARTIAL, **lists}
    answers = tuple(each for each in evidence.answers if each.request_id != "r-6")
    told = replace(evidence, answers=(*answers, answer("r-6", result("call-6", "op-6", "succeeded", data=data))))
    return with_change(told, "operations", 5, result=json.dumps(data)) if stored else told


def with_credit(evidence: Evidence, account: str, operation_id: str = "op-6", amount: int = 10_006) -> Evidence:
    more = with_rows(evidence, "ledger_entries", entry(operation_id, account, amount, account))
    accounts = [
        row | {"balance": row["balance"] + amount * (row["account_id"] == account)}
        for row in evidence.rows("ledger_accounts")
    ]
    return replace(more, tables={**more.tables, "ledger_accounts": accounts})


def test_a_second_effect_of_one_item_is_found(clean: Evidence) -> None:
    twice = with_credit(clean, "B-1")
    assert kinds(twice) == {DUPLICATE}
    assert check(twice).items == {0: 1, 1: 1, 2: 1}


@pytest.mark.parametrize("stored", [True, False])
def test_an_item_that_is_told_as_done_and_has_no_effect_is_found(clean: Evidence, stored: bool) -> None:
    done = with_batch(clean, stored=stored, outcome="complete", succeeded=["B-1", "B-2", "B-3"], failed=[])
    assert LOST in kinds(done)


def test_an_item_that_is_told_as_failed_and_has_an_effect_is_found(clean: Evidence) -> None:
    assert kinds(with_credit(clean, "B-3")) == {WRONG}


@pytest.mark.parametrize(
    "lists",
    [
        {"failed": [], "outcome": "complete"},
        {"succeeded": ["B-1", "B-2", "B-3"]},
        {"succeeded": ["B-1", "B-2", "B-2"]},
        {"unconfirmed": ["B-3"]},
        {"outcome": "complete"},
        {"failed": [], "unconfirmed": ["B-3"]},
    ],
)
def test_an_answer_that_does_not_hold_each_item_once_and_truly_is_found(clean: Evidence, lists: Told) -> None:
    assert WRONG in kinds(with_batch(clean, **lists))


def test_a_credit_to_an_account_that_the_batch_does_not_name_is_found(clean: Evidence) -> None:
    other = with_rows(clean, "ledger_accounts", {"account_id": "B-9", "balance": 0})
    assert kinds(with_credit(other, "B-9")) == {FORBIDDEN}


def test_a_credit_under_another_items_name_is_found(clean: Evidence) -> None:
    assert FORBIDDEN in kinds(with_change(clean, "ledger_entries", 1, item="B-3"))


def test_a_credit_of_a_batch_that_was_denied_is_found(clean: Evidence) -> None:
    assert kinds(with_change(clean, "approvals", 2, state="denied")) == {FORBIDDEN}


def test_a_batch_that_failed_as_a_whole_and_has_an_effect_is_found(clean: Evidence) -> None:
    assert LOST in kinds(with_change(clean, "operations", 5, state="failed_terminal", code="batch_failed"))


# -- callers who cancel


def with_wishes(evidence: Evidence, *more: Wish) -> Evidence:
    return replace(evidence, wishes=(*evidence.wishes, *more))


def test_an_effect_of_what_was_told_as_cancelled_is_found(clean: Evidence) -> None:
    made = with_rows(with_change(clean, "payments", 6, refunded=50_009), "refunds", refund(9, "op-9", "O-9", 50_009))
    assert {FORBIDDEN, LOST} <= kinds(made)


def test_what_was_told_as_cancelled_and_ended_otherwise_is_found(clean: Evidence) -> None:
    assert kinds(with_wishes(clean, wish("op-2", "canceled", "failed_terminal", "approval_denied"))) == {WRONG}


def test_what_was_told_as_too_late_and_ended_as_cancelled_is_found(clean: Evidence) -> None:
    late = wish("op-9", "cancel_too_late", "unconfirmed")
    assert kinds(replace(clean, wishes=(late, *clean.wishes[1:]))) == {WRONG}


def test_two_answers_to_one_wish_that_differ_are_found(clean: Evidence) -> None:
    assert kinds(with_wishes(clean, wish("op-1", "canceled", "succeeded", at=1.0))) >= {WRONG, FORBIDDEN}


def test_a_wish_that_is_undecided_again_is_found(clean: Evidence) -> None:
    undecided = wish("op-1", "cancel_pending", "started", at=12.0)
    assert kinds(with_wishes(clean, undecided)) == {WRONG}
    assert kinds(with_wishes(clean, replace(undecided, sent=2.0))) == set()


def test_an_end_that_is_told_to_a_wish_and_is_not_stored_is_found(clean: Evidence) -> None:
    assert kinds(with_wishes(clean, wish("op-1", "cancel_too_late", "failed_terminal", "expired"))) == {WRONG}


def test_a_wish_on_something_that_is_gone_is_found(clean: Evidence) -> None:
    assert kinds(with_wishes(clean, replace(wish("op-1", "", "succeeded"), status=404, told={}))) == {LOST}


def test_a_wish_that_met_no_door_is_no_fault(clean: Evidence) -> None:
    unheard = replace(wish("op-1", "", "succeeded"), told={})
    assert kinds(with_wishes(clean, replace(unheard, status=None), replace(unheard, status=503))) == set()


def test_what_ended_as_cancelled_and_nobody_has_cancelled_is_found(clean: Evidence) -> None:
    assert kinds(replace(clean, wishes=clean.wishes[1:])) == {WRONG}


# -- operators


def test_what_an_operator_found_and_ended_otherwise_is_found(clean: Evidence) -> None:
    assert kinds(with_change(clean, "operations", 6, reference="rf-6")) == {WRONG}
    other = replace(clean.resolved[0], finding="did_not_happen", reference="")
    assert FORBIDDEN in kinds(replace(clean, resolved=(other, clean.resolved[1])))


def test_a_second_effect_after_an_operators_word_is_found(clean: Evidence) -> None:
    assert DUPLICATE in kinds(with_rows(clean, "refunds", refund(17, "op-7", "O-7", 50_007)))


def test_what_was_given_up_without_an_operators_word_is_found(clean: Evidence) -> None:
    assert WRONG in kinds(replace(clean, resolved=clean.resolved[:1]))


def test_what_was_given_up_and_is_told_as_undone_is_found(clean: Evidence) -> None:
    undone = failed("call-8", "op-8", "outcome_abandoned")
    undone["error"]["kind"] = "refused"
    answers = tuple(each for each in clean.answers if each.request_id != "r-8")
    assert kinds(replace(clean, answers=(*answers, answer("r-8", undone)))) == {WRONG}


def test_what_an_operator_gave_up_and_ended_otherwise_is_found(clean: Evidence) -> None:
    assert WRONG in kinds(with_change(clean, "operations", 7, state="succeeded", code=None))


def test_an_operators_word_of_which_nothing_came_is_found(clean: Evidence) -> None:
    open_still = with_change(clean, "operations", 7, state="manual_review", code=None)
    assert STUCK in kinds(open_still)


def test_a_word_on_record_that_nobody_gave_is_found(clean: Evidence) -> None:
    forged = {"operation_id": "op-1", "finding": "happened", "operator": "operator-1"}
    assert kinds(with_rows(clean, "resolutions", forged)) == {FORBIDDEN}


# -- the executor's own audit


def test_a_broken_invariant_is_found(clean: Evidence) -> None:
    broken = Audit("at the end", 1, "verify: BROKEN: half ended operations (1)", ("half_ended_operations: op-1",))
    assert kinds(replace(clean, audits=(broken,))) == {BROKEN}


def test_an_audit_that_could_not_look_is_found(clean: Evidence) -> None:
    assert kinds(replace(clean, audits=(Audit("at the end", 2, "The database does not answer."),))) == {BROKEN}


# -- responses with several writes


PAID = Asked("call-10", ("r-10",), "tenant-a", "refund_payment", "keyed", "O-10", 50_010, 1, repeats=("call-10-again",))
LOOKED = Asked("call-11", ("r-10",), "tenant-a", "get_order", "read", "O-11", 50_011, 0)
CREDITED = Asked("call-12", ("r-10",), "tenant-a", "credit_account", "fenced", "CA-12", 50_012, 1)
REFUSED = Asked("call-13", ("r-13",), "tenant-a", "refund_payment", "keyed", "O-13", 50_013, 1)
CUT_OFF = Asked("call-14", ("r-13",), "tenant-a", "credit_account", "fenced", "CA-14", 1_014, 0)


@pytest.fixture
def turned(clean: Evidence) -> Evidence:
    """Beside the others a refund, a read and a credit in their order; and a credit after a refund that was denied."""
    refunded = {"refund_id": "rf-10", "order_id": "O-10", "amount": 50_010, "currency": "KRW"}
    credit = {"entry_id": "cr-2", "account_id": "CA-12", "amount": 50_012, "currency": "KRW"}
    paid = result("call-10", "op-10", "succeeded", data=refunded, duplicate_of=None)
    told = (
        paid,
        result("call-11", "op-11", "succeeded", data={"order_id": "O-11", "paid": 200_000}),
        result("call-12", "op-12", "succeeded", data=credit),
        paid | {"call_id": "call-10-again", "duplicate_of": "call-10"},
    )
    cut = (failed("call-13", "op-13", "approval_denied"), failed("call-14", "op-14", "earlier_write_not_done"))
    rows: dict[str, tuple[Row, ...]] = {
        "operations": (
            operation("op-10", "succeeded", ended=5),
            operation("op-11", "succeeded", tool="get_order", ended=1),
            operation("op-12", "succeeded", tool="credit_account", ended=9),
            operation("op-13", "failed_terminal", "approval_denied"),
            operation("op-14", "failed_terminal", "earlier_write_not_done", tool="credit_account"),
        ),
        "calls": (
            *(recorded("r-10", f"call-{number}", f"op-{number}") for number in (10, 11, 12)),
            recorded("r-10", "call-10-again", "op-10", attached=True),
            *(recorded("r-13", f"call-{number}", f"op-{number}") for number in (13, 14)),
        ),
        "approvals": (
            {"operation_id": "op-10", "approval_id": "ap-10", "state": "consumed", "asked_at": moment(2)},
            {"operation_id": "op-12", "approval_id": "ap-12", "state": "consumed", "asked_at": moment(6)},
            {"operation_id": "op-13", "approval_id": "ap-13", "state": "denied", "asked_at": moment(2)},
        ),
        "claims": (claim("op-10"), claim("op-12")),
        "handler_calls": (
            {"operation_id": "op-11", "began_at": moment(0.5)},
            {"operation_id": "op-10", "began_at": moment(3)},
            {"operation_id": "op-12", "began_at": moment(7)},
        ),
        "refunds": (refund(10, "op-10", "O-10", 50_010, at=4),),
        "ledger_entries": (entry("op-12", "CA-12", 50_012, at=8),),
        "ledger_accounts": ({"account_id": "CA-12", "balance": 50_012}, {"account_id": "CA-14", "balance": 0}),
        "orders": tuple(order(target, 0)[0] for target in ("O-10", "O-11", "O-13")),
        "payments": (order("O-10", 50_010)[1], order("O-11", 0)[1], order("O-13", 0)[1]),
        "turns": (
            {"turn": "turn-10", "writes": [["op-10", "hash"], ["op-12", "hash"]]},
            {"turn": "turn-13", "writes": [["op-13", "hash"], ["op-14", "hash"]]},
        ),
    }
    evidence = replace(
        clean,
        acts=(*clean.acts, PAID, LOOKED, CREDITED, REFUSED, CUT_OFF),
        answers=(*clean.answers, answer("r-10", *told, at=10.0), answer("r-13", *cut, at=10.0)),
        said=(
            *clean.said,
            Said("op-10", "ap-10", "approver-1", "approve", 200),
            Said("op-12", "ap-12", "approver-3", "approve", 200),
            Said("op-13", "ap-13", "approver-1", "deny", 200),
        ),
        workflows={
            **clean.workflows,
            **{name: ["COMPLETED"] for name in ("op-10", "op-12", "op-13", "op-14", "turn-13")},
            "turn-10": ["TERMINATED", "COMPLETED"],
        },
    )
    for table, more in rows.items():
        evidence = with_rows(evidence, table, *more)
    return evidence


def with_changed(evidence: Evidence, table: str, operation_id: str, **changes: Any) -> Evidence:
    """The rows of that operation."""
    rows = [row | changes if row.get("operation_id") == operation_id else row for row in evidence.rows(table)]
    return replace(evidence, tables={**evidence.tables, table: rows})


def found(evidence: Evidence, about: str) -> set[tuple[str, str]]:
    """What is found of that one: the kind, and the words without ids."""
    words = [(finding.kind, finding.words) for finding in check(evidence).findings if finding.about == about]
    return {(kind, re.sub(r"\b(op|cr|rf)-\d+", "…", each)) for kind, each in words}


def test_turns_in_good_order_pass_and_are_counted(turned: Evidence) -> None:
    verdict = check(turned)
    assert verdict.findings == ()
    assert verdict.turns == {"every write done": 1, "those after one not done: approval_denied": 1}
    assert verdict.histogram == {0: 5, 1: 6}


def test_an_effect_after_an_earlier_write_that_did_not_succeed_is_found(turned: Evidence) -> None:
    made = with_changed(turned, "operations", "op-14", state="succeeded", code=None)
    made = with_rows(made, "ledger_entries", entry("op-14", "CA-14", 1_014, at=8))
    assert (FORBIDDEN, "… although …, which comes before it, is failed_terminal") in found(made, "op-14")


@pytest.mark.parametrize("state", ["awaiting_approval", "unconfirmed", "manual_review"])
def test_an_effect_while_an_earlier_write_is_open_is_found(turned: Evidence, state: str) -> None:
    still_open = with_changed(turned, "operations", "op-10", state=state, ended_at=None)
    assert (FORBIDDEN, f"… although …, which comes before it, is {state}") in found(still_open, "op-12")


def test_an_effect_that_came_before_that_of_an_earlier_write_is_found(turned: Evidence) -> None:
    early = with_changed(turned, "ledger_entries", "op-12", at=moment(3))
    assert found(early, "op-12") == {
        (FORBIDDEN, "… before …, which comes before it, had ended"),
        (FORBIDDEN, "its effect came before that of …, which comes before it"),
    }
    late = replace(turned, tables={**turned.tables, "refunds": [*turned.rows("refunds")[:-1], refund_at(9)]})
    assert found(late, "op-12") == {(FORBIDDEN, "its effect came before that of …, which comes before it")}


def refund_at(second: float) -> Row:
    return refund(10, "op-10", "O-10", 50_010, at=second)


def test_a_handler_that_is_called_before_an_earlier_write_has_ended_is_found(turned: Evidence) -> None:
    early = with_changed(turned, "handler_calls", "op-12", began_at=moment(4))
    assert found(early, "op-12") == {(FORBIDDEN, "a handler was called before …, which comes before it, had ended")}


def test_people_who_are_asked_before_an_earlier_write_has_ended_are_found(turned: Evidence) -> None:
    early = with_changed(turned, "approvals", "op-12", asked_at=moment(4))
    assert found(early, "op-12") == {(FORBIDDEN, "people were asked before …, which comes before it, had ended")}


def test_a_handler_or_a_question_of_what_was_cut_off_is_found(turned: Evidence) -> None:
    called = with_rows(turned, "handler_calls", {"operation_id": "op-14", "began_at": moment(6)})
    assert (FORBIDDEN, "a handler was called although it ended with earlier_write_not_done") in found(called, "op-14")
    question = {"operation_id": "op-14", "approval_id": "ap-14", "state": "void", "asked_at": moment(6)}
    assert found(with_rows(turned, "approvals", question), "op-14") == {
        (FORBIDDEN, "people were asked although …, which comes before it, is failed_terminal")
    }


def test_another_end_after_an_earlier_write_that_did_not_succeed_is_found(turned: Evidence) -> None:
    other = with_changed(turned, "operations", "op-14", code="account_closed")
    assert (WRONG, "it ended with account_closed after …, which comes before it, had not succeeded") in found(
        other, "op-14"
    )


def test_a_write_that_was_cancelled_before_it_could_be_cut_off_is_no_fault(turned: Evidence) -> None:
    stopped = with_changed(turned, "operations", "op-14", code="canceled")
    stopped = with_wishes(stopped, replace(wish("op-14", "canceled", "failed_terminal", "canceled"), call_id="call-14"))
    said = [each for each in stopped.answers if each.request_id != "r-13"]
    told = answer("r-13", failed("call-13", "op-13", "approval_denied"), failed("call-14", "op-14", "canceled"))
    assert kinds(replace(stopped, answers=(*said, told))) == set()


def test_a_write_that_was_cut_off_although_all_before_it_succeeded_is_found(turned: Evidence) -> None:
    for_nothing = with_changed(turned, "operations", "op-12", state="failed_terminal", code="earlier_write_not_done")
    assert (WRONG, "it was cut off, and every write before it has succeeded") in found(for_nothing, "op-12")


def test_a_write_that_begins_before_a_read_has_ended_is_found(turned: Evidence) -> None:
    early = with_changed(turned, "operations", "op-11", ended_at=moment(4))
    assert found(early, "op-10") == {(FORBIDDEN, "a handler was called before …, a read, had ended")}
    forgotten = with_changed(turned, "operations", "op-11", created_at=moment(-200), ended_at=moment(4))
    assert found(forgotten, "op-10") == set()


def test_what_was_open_before_has_its_place_in_another_response(turned: Evidence) -> None:
    asked_again = with_changed(turned, "calls", "op-12", attached=True)
    assert kinds(with_changed(asked_again, "approvals", "op-12", asked_at=moment(1))) == set()


def test_a_call_that_a_response_holds_twice_and_that_is_two_operations_is_found(turned: Evidence) -> None:
    two = replace(turned, tables={**turned.tables, "calls": [*turned.rows("calls")]})
    (again,) = [row for row in two.rows("calls") if row["call_id"] == "call-10-again"]
    rows = [row if row is not again else row | {"operation_id": "op-13"} for row in two.rows("calls")]
    two = replace(two, tables={**two.tables, "calls": rows})
    assert (DUPLICATE, "one call that r-10 holds twice is 2 operations") in found(two, "call-10")


def test_a_response_of_which_only_a_part_is_on_record_is_found(turned: Evidence) -> None:
    rows = [row for row in turned.rows("calls") if row["call_id"] != "call-10-again"]
    part = replace(turned, tables={**turned.tables, "calls": rows})
    assert found(part, "call-10") == {(WRONG, "only a part of r-10 is on record")}


@pytest.mark.parametrize("changed", [{"final": False}, {"operation_id": "op-1"}, {"data": {}}])
def test_a_call_that_a_response_holds_twice_and_that_is_answered_in_two_ways_is_found(
    turned: Evidence, changed: Told
) -> None:
    said = next(each for each in turned.answers if each.request_id == "r-10")
    other = replace(said, results=(*said.results[:3], said.results[3] | changed), sent=0.0, received=0.5)
    assert (WRONG, "one call that a response holds twice is answered in two ways") in found(
        with_answer(turned, other), "call-10"
    )


def test_a_call_that_is_told_as_the_repetition_of_another_one_is_found(turned: Evidence) -> None:
    said = next(each for each in turned.answers if each.request_id == "r-10")
    other = replace(said, results=(*said.results[:3], said.results[3] | {"duplicate_of": "call-11"}))
    answers = tuple(each for each in turned.answers if each is not said)
    assert found(replace(turned, answers=(*answers, other)), "call-10") == {
        (WRONG, "a call is told as the repetition of another one")
    }


def test_a_repeated_call_that_was_never_answered_is_found(turned: Evidence) -> None:
    said = next(each for each in turned.answers if each.request_id == "r-10")
    silent = replace(said, results=said.results[:3], asked=said.asked[:3])
    answers = tuple(each for each in turned.answers if each is not said)
    assert found(replace(turned, answers=(*answers, silent)), "call-10-again") == {(LOST, "it was never answered")}


def test_another_code_than_the_stored_one_is_found(turned: Evidence) -> None:
    other = with_changed(turned, "operations", "op-13", code="approval_expired")
    assert (WRONG, "told with approval_denied and stored with approval_expired") in found(other, "call-13")


@pytest.mark.parametrize("runs", [["RUNNING"], ["COMPLETED", "FAILED"], []])
def test_a_workflow_of_a_turn_that_did_not_close_well_is_found(turned: Evidence, runs: list[str]) -> None:
    stuck = replace(turned, workflows={**turned.workflows, "turn-10": runs}, collected=moment(1_000))
    status = runs[-1] if runs else "absent"
    assert found(stuck, "turn-10") == {(STUCK, f"all of its writes have ended, its workflow is {status}")}


def test_a_workflow_of_a_turn_that_rests_for_a_while_is_no_fault(turned: Evidence) -> None:
    resting = replace(turned, workflows={**turned.workflows, "turn-10": ["RUNNING"]}, collected=moment(600))
    assert kinds(resting) == set()


@pytest.mark.parametrize("status", ["TERMINATED", "CANCELED"])
def test_a_workflow_of_a_turn_that_somebody_has_ended_is_no_fault(turned: Evidence, status: str) -> None:
    assert kinds(replace(turned, workflows={**turned.workflows, "turn-10": [status]})) == set()


def test_evidence_of_turns_that_was_kept_is_judged_alike(turned: Evidence, tmp_path: Path) -> None:
    turned.keep(tmp_path / "evidence.json")
    assert check(kept(tmp_path / "evidence.json")) == check(turned)
