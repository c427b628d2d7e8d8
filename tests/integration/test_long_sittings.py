"""Who sits at the back office for longer than the issuer's word lasts goes on as before."""

from datetime import timedelta

from sqlalchemy import update

from adapters.http.back_office.session_store import RENEWED_AFTER
from adapters.postgres.tables import sessions
from tests.chaos.people import Person
from tests.faults.refunds import Refund
from tests.support.onceward import Onceward


async def test_people_who_are_no_browser_decide_after_a_quarter_of_an_hour_too(onceward: Onceward) -> None:
    refund = await Refund.proposed(onceward)
    question = (await onceward.approvals(refund.operation_id))[-1]
    async with Person(onceward.stack.links.back_office) as person:
        await person.sign_in("approver-1")
        async with onceward.owner.transaction() as connection:
            aged = sessions.c.checked_at - RENEWED_AFTER - timedelta(minutes=1)
            await connection.execute(update(sessions).values(checked_at=aged))
        words = {"choice": "approve", "reason": ""}
        assert await person.say(f"/approvals/{question.approval_id}", "/decision", words) == 200
    await refund.require_once(posts=1)
