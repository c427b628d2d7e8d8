"""One operation as a browser meets it."""

from dataclasses import replace

import pytest

from adapters.http.back_office.ports import ApprovalReference
from tests.unit.back_office_house import PAGE, Browser, House
from tests.unit.back_office_sheets import operation_sheet
from workflows.domain.approval import ApprovalState
from workflows.domain.lifecycle import State


async def test_another_tenants_operation_is_absent(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet("operation-b"), "tenant-b")
    house.store.record(operation_sheet("operation-a"))
    assert (await approver.get("/back-office/operations/operation-b")).status_code == 404
    page = (await approver.get("/back-office/operations")).text
    assert "operation-a" in page
    assert "operation-b" not in page


async def test_the_operation_page_tells_the_whole_story(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    page = (await approver.get("/back-office/operations/operation-1")).text
    for shown in ("It was sent and no answer came", "Sent; no answer came in time", "generation 2", "re_88421"):
        assert shown in page
    for shown in ("Fits the business rules", "Ask a person", "Approved and used", PAGE):
        assert shown in page
    assert 'href="http://localhost:8233/w/operation-1"' in page


async def test_a_read_that_succeeded_claims_no_effect_and_leads_to_no_workflow(house: House, approver: Browser) -> None:
    read = operation_sheet(state=State.SUCCEEDED)
    house.store.record(replace(read, line=replace(read.line, writes=False), reference=None, idempotency_key=""))
    page = (await approver.get("/back-office/operations/operation-1")).text
    assert "It was read. Nothing was changed." in page
    for absent in ("It is done, once", "Receipt", "Generation", "Key sent", "workflow console"):
        assert absent not in page


async def test_what_an_operation_waits_for_is_said_as_a_sentence(house: House, approver: Browser) -> None:
    house.store.record(operation_sheet())
    for path in ("operations", "operations/operation-1"):
        page = (await approver.get(f"/back-office/{path}")).text
        assert "Waits for the next look at the payments provider" in page


@pytest.mark.parametrize("state", [State.FAILED_TERMINAL, State.FAILED_RETRYABLE])
async def test_what_ended_without_effect_promises_no_receipt(house: House, approver: Browser, state: State) -> None:
    house.store.record(replace(operation_sheet(state=state), reference=None, idempotency_key=""))
    page = (await approver.get("/back-office/operations/operation-1")).text
    assert "Receipt" not in page
    assert "None yet" not in page
    assert '<dt>Key sent</dt><dd class="id">—</dd>' in page


async def test_whoever_knows_the_operation_only_is_led_to_its_newest_approval(house: House, approver: Browser) -> None:
    sheet = operation_sheet()
    newer = ApprovalReference("approval-2", 2, ApprovalState.PENDING)
    house.store.record(replace(sheet, approvals=(newer, *sheet.approvals)))
    house.store.record(replace(operation_sheet("operation-2"), approvals=()))
    house.store.record(operation_sheet("operation-b"), "tenant-b")
    led = {
        name: await approver.get(f"/back-office/operations/{name}/approval") for name in ("operation-1", "operation-2")
    }
    assert led["operation-1"].headers["location"] == "/back-office/approvals/approval-2"
    assert led["operation-2"].headers["location"] == "/back-office/operations/operation-2"
    assert (await approver.get("/back-office/operations/operation-b/approval")).status_code == 404
