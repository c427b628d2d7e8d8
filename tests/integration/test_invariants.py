"""Each invariant's number, on rows that keep it and on rows that break it."""

from collections.abc import AsyncIterator

import pytest

from adapters.postgres.engine import Database
from adapters.postgres.invariants import PostgresInvariants
from tests.support.books import OPERATION, Books
from worker.dev.stack import Stack


@pytest.fixture(scope="module")
async def database(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """Tables that no other test writes in: the numbers are over all rows."""
    folder = tmp_path_factory.mktemp("invariants")
    async with Stack(folder, only={"postgres", "migrate"}, restart=False) as stack:
        owner = Database(stack.dsn("onceward_owner"), application_name="tests")
        yield owner
        await owner.close()


@pytest.fixture
async def books(database: Database) -> Books:
    books = Books(database)
    await books.begin_anew()
    return books


@pytest.fixture
def measured(database: Database) -> PostgresInvariants:
    return PostgresInvariants(database)


async def test_without_rows_every_number_is_zero(books: Books, measured: PostgresInvariants) -> None:
    assert await measured.terminal_results_per_operation() == (0, 0)
    assert await measured.intent_hashes_per_key() == (0, 0)
    assert await measured.operations_per_receipt() == (0, 0)
    assert await measured.handler_calls_after_refusal() == 0
    assert await measured.open_operations() == 0


async def test_a_refund_in_good_order_measures_one_everywhere(books: Books, measured: PostgresInvariants) -> None:
    await books.operation()
    await books.event("proposed", 0)
    await books.verdict("risk", 1, "approval_required")
    await books.verdict("risk", 2, "approval_required")
    await books.verdict("approval", 2)
    await books.consumed_approval("meant")
    await books.claim()
    await books.handler_call(3)
    await books.event("succeeded", 4)
    assert await measured.terminal_results_per_operation() == (1, 1)
    assert await measured.intent_hashes_per_key() == (1, 1)
    assert await measured.operations_per_receipt() == (1, 1)
    assert await measured.handler_calls_after_refusal() == 0
    assert await measured.open_operations() == 0


async def test_an_operation_on_its_way_is_open_and_has_no_result_yet(
    books: Books, measured: PostgresInvariants
) -> None:
    await books.operation(state="unconfirmed")
    await books.event("proposed", 0)
    assert await measured.open_operations() == 1
    assert await measured.terminal_results_per_operation() == (0, 0)


async def test_a_second_result_of_one_operation_shows(books: Books, measured: PostgresInvariants) -> None:
    await books.operation()
    for second, what in enumerate(("proposed", "succeeded", "failed_terminal")):
        await books.event(what, second)
    assert await measured.terminal_results_per_operation() == (2, 2)


async def test_an_end_without_a_result_shows(books: Books, measured: PostgresInvariants) -> None:
    await books.operation()
    await books.event("proposed", 0)
    await books.operation("op_2")
    await books.event("proposed", 0, "op_2")
    await books.event("succeeded", 1, "op_2")
    assert await measured.terminal_results_per_operation() == (0, 1)


async def test_an_operation_that_was_taken_up_again_has_one_result_since(
    books: Books, measured: PostgresInvariants
) -> None:
    await books.operation()
    for second, what in enumerate(("proposed", "failed_retryable", "proposed", "succeeded")):
        await books.event(what, second)
    await books.handler_call(3)
    assert await measured.terminal_results_per_operation() == (1, 1)


@pytest.mark.parametrize(("claimed", "approved"), [("other", "meant"), ("meant", "other")])
async def test_a_key_with_two_meanings_shows(
    books: Books, measured: PostgresInvariants, claimed: str, approved: str
) -> None:
    await books.operation()
    await books.claim(intent=claimed)
    await books.consumed_approval(approved)
    assert await measured.intent_hashes_per_key() == (2, 2)


async def test_two_operations_with_one_receipt_show(books: Books, measured: PostgresInvariants) -> None:
    for operation_id in (OPERATION, "op_2"):
        await books.operation(operation_id)
        await books.claim(operation_id)
    assert await measured.operations_per_receipt() == (2, 2)


async def test_what_an_operator_writes_down_alarms_nobody_but_their_own_tenant(
    books: Books, measured: PostgresInvariants
) -> None:
    """They cannot see which receipts another tenant has, and the door cannot tell them."""
    await books.operation()
    await books.claim()
    for operation_id, tenant in (("op_2", "another"), ("op_3", "another")):
        await books.operation(operation_id, tenant=tenant)
        await books.claim(operation_id)
        await books.resolution("happened", operation_id, reference="rf-1")
        alarmed = operation_id == "op_3"
        assert await measured.operations_per_receipt() == ((2, 2) if alarmed else (1, 1))


async def test_one_receipt_that_the_downstream_has_shown_to_two_tenants_shows(
    books: Books, measured: PostgresInvariants
) -> None:
    for operation_id, tenant in ((OPERATION, "t"), ("op_2", "another")):
        await books.operation(operation_id, tenant=tenant)
        await books.claim(operation_id)
    assert await measured.operations_per_receipt() == (2, 2)


async def test_a_handler_called_after_a_layer_refused_shows(books: Books, measured: PostgresInvariants) -> None:
    await books.operation()
    await books.verdict("business", 1, "quote_changed")
    await books.handler_call(2)
    assert await measured.handler_calls_after_refusal() == 1


async def test_a_handler_called_while_a_person_is_still_asked_shows(books: Books, measured: PostgresInvariants) -> None:
    await books.operation()
    await books.verdict("risk", 1, "approval_required")
    await books.handler_call(2)
    assert await measured.handler_calls_after_refusal() == 1


async def test_a_handler_called_after_the_end_shows(books: Books, measured: PostgresInvariants) -> None:
    await books.operation(state="failed_terminal")
    await books.event("proposed", 0)
    await books.event("failed_terminal", 1)
    await books.handler_call(2)
    assert await measured.handler_calls_after_refusal() == 1


async def test_a_refusal_after_the_call_or_before_a_better_judgement_does_not_count(
    books: Books, measured: PostgresInvariants
) -> None:
    await books.operation()
    await books.verdict("business", 1, "upstream_unavailable")
    await books.verdict("business", 2)
    await books.handler_call(3)
    await books.verdict("business", 4, "quote_consumed")
    assert await measured.handler_calls_after_refusal() == 0
