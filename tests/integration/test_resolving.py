"""What nobody could find out an operator resolves, on the page or over HTTP: with evidence, once, never an agent."""

import html
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from sqlalchemy import update

from adapters.postgres.tables import claims
from tests.faults.refunds import Refund
from tests.support.onceward import ENDS, Onceward
from tests.support.proposals import fresh
from tests.support.waiting import until
from worker.dev.layout import BACK_OFFICE_AUDIENCE
from workflows import contracts

Json = dict[str, Any]

NOBODY_CAN_LOOK = {"on": "lookup", "do": "503", "times": None}
EVIDENCE = "The provider's own console, on the phone with their support."


@dataclass
class Review:
    """A refund that an operator is asked about; the provider's look-ups fail as long as the block lasts."""

    refund: Refund
    generation: int = 1

    @property
    def onceward(self) -> Onceward:
        return self.refund.onceward

    async def looks(self) -> int:
        """How often the worker has said that it could not look."""
        written = self.onceward.stack.log("worker").read_text(errors="replace").splitlines()
        return sum("look_failed" in line and self.refund.operation_id in line for line in written)

    async def can_be_looked_up_again(self) -> None:
        """The provider is well, and the workflow looks now instead of in a while."""
        await self.onceward.provider.clear()
        await self.onceward.temporal.get_workflow_handle(self.refund.operation_id).signal(contracts.NUDGE)

    async def ending(self) -> tuple[str, str | None, int, int]:
        """State and code at the end, with what the provider counts: posts and effects."""
        name = self.refund.operation_id
        state = await self.onceward.until(name, *ENDS)
        told = (await self.onceward.operation(name)).json()
        posts, effects = await self.onceward.provider.posts(name), await self.onceward.provider.effects(name)
        return state, told.get("error", {}).get("code"), posts, effects

    async def tell(self, token: str, **changes: Any) -> httpx2.Response:
        """An operator's word over HTTP."""
        word: Json = {
            "finding": "happened",
            "evidence": EVIDENCE,
            "reference": f"rf-{self.refund.operation_id}",
            "generation": self.generation,
        }
        path = f"/v1/operations/{self.refund.operation_id}/resolution"
        headers = {"Authorization": f"Bearer {token}"}
        return await self.onceward.door.post(path, json=word | changes, headers=headers)


async def in_review(onceward: Onceward, fault: str) -> Review:
    """Sent once under that fault, and looked for longer than the contract says; only the clock is helped along."""
    refund = await Refund.proposed(onceward)
    await onceward.provider.switch({"on": "refund", "do": fault}, NOBODY_CAN_LOOK)
    await refund.approve()
    await onceward.until(refund.operation_id, "unconfirmed")
    mine = claims.c.operation_id == refund.operation_id
    earlier = {name: claims.c[name] - timedelta(hours=1) for name in ("first_sent_at", "last_sent_at")}
    long_ago = update(claims).where(mine).values(earlier)
    async with onceward.owner.transaction() as connection:
        await connection.execute(long_ago)
    await onceward.temporal.get_workflow_handle(refund.operation_id).signal(contracts.NUDGE)
    await onceward.until(refund.operation_id, "manual_review")
    return Review(refund)


@pytest.fixture(autouse=True)
async def the_provider_is_well_afterwards(onceward: Onceward) -> Any:
    yield
    await onceward.provider.clear()


async def on_the_page(review: Review, finding: str, reference: str = "") -> httpx2.Response:
    async with review.onceward.visitor("operator-1") as visitor:
        return await visitor.resolve(review.refund.operation_id, finding, EVIDENCE, reference)


async def test_what_has_happened_is_done_under_the_reference_that_the_operator_found(onceward: Onceward) -> None:
    review = await in_review(onceward, "commit-then-drop")
    (made,) = (await onceward.provider.ledger(review.refund.operation_id))["refunds"]
    page = await on_the_page(review, "happened", made["refund_id"])
    assert (page.status_code, "Your word counts" in page.text) == (200, True)
    assert await review.ending() == ("succeeded", None, 1, 1)
    assert (await onceward.operation(review.refund.operation_id)).json()["reference"] == made["refund_id"]


async def test_what_the_operator_said_and_saw_is_there_for_whoever_looks_later(onceward: Onceward) -> None:
    review = await in_review(onceward, "commit-then-drop")
    await on_the_page(review, "abandoned")
    await review.ending()
    async with onceward.visitor("approver-1") as visitor:
        page = html.unescape((await visitor.page(f"/operations/{review.refund.operation_id}")).text)
    for shown in ("What operators said", "Nobody can find out", "Operator", EVIDENCE):
        assert shown in page
    assert "Ended without effect" not in page


async def test_what_has_not_happened_is_checked_and_sent_once_more(onceward: Onceward) -> None:
    review = await in_review(onceward, "drop-before-commit")
    assert await onceward.provider.effects(review.refund.operation_id) == 0
    assert (await on_the_page(review, "did_not_happen")).status_code == 200
    await review.can_be_looked_up_again()
    assert await review.ending() == ("succeeded", None, 2, 1)


async def test_a_wrong_word_that_it_did_not_happen_is_neither_believed_nor_told_before_a_look(
    onceward: Onceward,
) -> None:
    review = await in_review(onceward, "commit-then-drop")
    assert (await on_the_page(review, "did_not_happen")).status_code == 200
    before = await review.looks()
    await until(review.looks, lambda looks: looks > before)
    assert await onceward.state(review.refund.operation_id) == "manual_review"
    assert (await review.refund.hand_in_again()).code == "reconciliation_pending"
    await review.can_be_looked_up_again()
    assert await review.ending() == ("succeeded", None, 1, 1)


async def test_what_is_given_up_ends_and_is_never_called_undone(onceward: Onceward) -> None:
    review = await in_review(onceward, "commit-then-drop")
    await on_the_page(review, "abandoned")
    assert await review.ending() == ("failed_terminal", "outcome_abandoned", 1, 1)
    again = await review.refund.hand_in_again()
    assert (again.only["error"]["kind"], again.only["error"]["next_action"]) == ("unconfirmed", "ask_user")
    async with onceward.visitor("operator-1") as visitor:
        page = (await visitor.page(f"/operations/{review.refund.operation_id}")).text
    assert "It may have; nothing more is sent." in page
    assert "Did not happen" not in page


async def test_the_page_shows_what_the_operator_must_look_up(onceward: Onceward) -> None:
    review = await in_review(onceward, "commit-then-drop")
    (post,) = (await onceward.provider.ledger(review.refund.operation_id))["posts"]
    async with onceward.visitor("operator-1") as visitor:
        page = (await visitor.page(f"/operations/{review.refund.operation_id}")).text
    assert post["idempotency_key"] in page
    assert "What became of it?" in page
    assert "The downstream could not be asked." in page


async def test_a_word_without_what_it_rests_on_changes_nothing_and_keeps_what_was_typed(onceward: Onceward) -> None:
    review = await in_review(onceward, "commit-then-drop")
    page = await on_the_page(review, "happened")
    assert (page.status_code, EVIDENCE.split(",")[1] in page.text) == (422, True)
    assert await onceward.state(review.refund.operation_id) == "manual_review"


@pytest.mark.parametrize("person", ["approver-1", "viewer-1"])
async def test_who_is_no_operator_is_shown_no_form(onceward: Onceward, person: str) -> None:
    review = await in_review(onceward, "commit-then-drop")
    async with onceward.visitor(person) as visitor:
        page = (await visitor.page(f"/operations/{review.refund.operation_id}")).text
    assert "/resolution" not in page


# -- over HTTP


def operator(onceward: Onceward, **changes: Any) -> str:
    given = {"subject": "operator-1", "roles": ["operator"], "agent": "", "audience": BACK_OFFICE_AUDIENCE} | changes
    return onceward.token(**given)


async def test_a_companys_own_back_office_resolves_over_http(onceward: Onceward) -> None:
    review = await in_review(onceward, "commit-then-drop")
    answers = [await review.tell(operator(onceward)) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [204, 204]
    assert await review.ending() == ("succeeded", None, 1, 1)


@pytest.mark.parametrize(
    ("who", "changes", "status", "code"),
    [
        ({"agent": "support-agent"}, {}, 403, "operator_not_allowed"),
        ({"roles": ["support"]}, {}, 403, "operator_not_allowed"),
        ({"subject": "user-17"}, {}, 403, "operator_not_allowed"),
        ({"tenant": "tenant-b"}, {}, 404, "not_found"),
        ({"audience": "onceward"}, {}, 401, "invalid_token"),
        ({}, {"generation": 9}, 409, "resolution_stale"),
        ({}, {"evidence": ""}, 422, "resolution_evidence_required"),
        ({}, {"reference": ""}, 422, "resolution_reference_required"),
        ({}, {"finding": "perhaps"}, 422, "invalid_request"),
        ({}, {"generation": 2**31}, 422, "invalid_request"),
        ({}, {"generation": 10**300}, 422, "invalid_request"),
        ({}, {"approved": True}, 422, "invalid_request"),
    ],
)
async def test_who_may_not_and_what_does_not_fit_is_refused_and_changes_nothing(
    onceward: Onceward, who: Json, changes: Json, status: int, code: str
) -> None:
    review = await in_review(onceward, "commit-then-drop")
    answer = await review.tell(operator(onceward, **who), **changes)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert await onceward.state(review.refund.operation_id) == "manual_review"


@pytest.mark.parametrize("name", ["%00", "a%00b", "x" * 200])
async def test_an_odd_name_is_absent(onceward: Onceward, name: str) -> None:
    word = {"finding": "abandoned", "evidence": EVIDENCE, "generation": 1}
    headers = {"Authorization": f"Bearer {operator(onceward)}"}
    answer = await onceward.door.post(f"/v1/operations/{name}/resolution", json=word, headers=headers)
    assert answer.status_code == 404


async def test_nobody_resolves_what_nobody_is_asked_about(onceward: Onceward) -> None:
    refund = await Refund.proposed(onceward)
    answer = await Review(refund).tell(operator(onceward))
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert (await Review(Refund(onceward, "", refund.asked, fresh("op"))).tell(operator(onceward))).status_code == 404
