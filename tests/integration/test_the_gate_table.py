"""The gate's table through the real door: what each row comes to at the provider, in our journal and for the caller.

A row that is refused happens in two ways. Either the proposal is wrong from the start, and no person is ever asked; or
it was good when it was proposed, everything that the row names goes wrong while the question waits, and a person
approves it all the same.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import Table, func, select

from adapters.postgres.engine import Database
from adapters.postgres.rows import as_text, from_text
from adapters.postgres.tables import approvals, calls, claims, decisions, handler_calls, operations, verdicts
from examples.payments_provider.tables import orders, quotes
from tests.support.gate_table import ALL_WELL, ROWS
from tests.support.onceward import ENDS, Onceward, Reply
from tests.support.proposals import fresh
from tests.support.responses import call
from tests.support.waiting import PATIENCE_SECONDS
from worker.dev.child import Child
from worker.dev.children import TABLE
from worker.dev.environment import Environment
from worker.dev.layout import Layout
from worker.dev.stack import Stack
from workflows.contracts import NUDGE
from workflows.domain.gate import Standing

Json = dict[str, Any]

LARGE, SMALL = 12_000, 1_000
"""In won. The policy lets the small amount pass unasked and no larger one."""

POLICY: Environment = {
    "ONCEWARD_POLICY_UNASKED_UP_TO": f'{{"KRW": {SMALL}}}',
    "ONCEWARD_POLICY_DAILY_UNASKED_UP_TO": '{"KRW": 1000000000}',
    "ONCEWARD_POLICY_TENANT_DAILY_UNASKED_UP_TO": '{"KRW": 1000000000}',
}

REFUSALS = {
    "allowed": ("exposure", "tool_not_allowed"),
    "schema_valid": ("schema", "invalid_arguments"),
    "authorized": ("authorization", "not_found"),
    "business_valid": ("business", "quote_expired"),
}
"""By what is wrong: which layer says so with which code, in the order in which they answer.

A foreign order looks absent, so no rule of the business speaks about it.
"""

AT_THE_DOOR = ("exposure", "schema")
"""Layers that need no look outside: what they refuse from the start does not even become an operation."""


def wrong_in(standing: Standing) -> list[str]:
    """What the gate must refuse whatever people say; the first one answers."""
    return [name for name in REFUSALS if not getattr(standing, name)]


TABLE_ROWS = [(name, replace(ALL_WELL, **changes), passes) for name, changes, passes in ROWS]
PASSING = [pytest.param(standing, id=name) for name, standing, passes in TABLE_ROWS if passes]
WRONG = [pytest.param(standing, id=name) for name, standing, passes in TABLE_ROWS if not passes and wrong_in(standing)]
UNGRANTED = [
    pytest.param(standing, id=name) for name, standing, passes in TABLE_ROWS if not passes and not wrong_in(standing)
]


# -- the stack


def under_our_policy(child: Child) -> Child:
    """The worker is told the policy; every other process is as it was."""

    def environment(layout: Layout) -> Environment:
        return {**child.environment(layout), **POLICY}

    return replace(child, environment=environment) if child.name == "worker" else child


@pytest.fixture(scope="module")
async def onceward(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Onceward]:
    """The whole stack, running under this policy. Nobody else uses it, so all that is in it can be counted."""
    table = [under_our_policy(child) for child in TABLE]
    async with (
        Stack(tmp_path_factory.mktemp("table"), table=table, restart=False) as stack,
        Onceward.connected(stack) as running,
    ):
        yield running


@pytest.fixture(scope="module")
async def books(onceward: Onceward) -> AsyncIterator[Database]:
    """The provider's own books, in which something changes without a word to us."""
    database = Database(onceward.stack.dsn("payments_provider", "payments"), application_name="tests")
    yield database
    await database.close()


# -- what is counted


class Counted(NamedTuple):
    """Everything that this stack has ever come to."""

    questions: int = 0
    claims: int = 0
    handler_calls: int = 0
    posts: int = 0
    effects: int = 0

    @classmethod
    async def now(cls, onceward: Onceward) -> "Counted":
        return cls(
            questions=len(await onceward.rows(select(approvals))),
            claims=len(await onceward.rows(select(claims))),
            handler_calls=len(await onceward.rows(select(handler_calls))),
            posts=await onceward.provider.posts(),
            effects=await onceward.provider.effects(),
        )

    async def more(self, onceward: Onceward) -> "Counted":
        """What has been added since."""
        return Counted._make(now - before for before, now in zip(self, await Counted.now(onceward), strict=True))


NOTHING = Counted()


# -- who asks, and for what


@dataclass(frozen=True)
class Request:
    """The refund of an order that nobody else touches, proposed for a user whom nobody else is."""

    onceward: Onceward
    roles: tuple[str, ...]
    arguments: Json
    user: str = field(default_factory=lambda: fresh("user"))
    request_id: str = field(default_factory=lambda: fresh("response"))

    @classmethod
    async def of(cls, onceward: Onceward, standing: Standing) -> "Request":
        """What is wrong in the row is wrong from the start."""
        amount = LARGE if standing.approval_required else SMALL
        merchant = "tenant-a" if standing.authorized else "tenant-b"
        order_id = await onceward.provider.add_order(merchant=merchant, amount=amount)
        async with onceward.provider.switched(quote_seconds=None if standing.business_valid else 0):
            arguments = await onceward.provider.refund_arguments(order_id, amount)
        odd = {} if standing.schema_valid else {"amount": str(amount)}
        return cls(onceward, ("support",) if standing.allowed else ("viewer",), arguments | odd)

    async def deliver(self, wait_for: str = "progress") -> Reply:
        """Hand the response in, for the first time or again."""
        asked, token = call("refund_payment", self.arguments), self.onceward.token(subject=self.user, roles=self.roles)
        patience: Json = {"wait_for": wait_for, "wait_seconds": PATIENCE_SECONDS}
        return await self.onceward.turn(asked, request_id=self.request_id, token=token, **patience)

    async def refusals(self) -> list[tuple[str, str]]:
        """Each layer that has said no, the oldest first; that a person must be asked is said in the same way."""
        mine = (verdicts.c.request_id == self.request_id) | verdicts.c.operation_id.in_(
            select(calls.c.operation_id).where(calls.c.request_id == self.request_id)
        )
        said = select(verdicts.c.layer, verdicts.c.code).where(mine, verdicts.c.code.is_not(None))
        return [tuple(row) for row in await self.onceward.rows(said.order_by(verdicts.c.verdict_id))]

    async def wrong(self) -> list[str]:
        """What is wrong, as anybody can find out without asking the gate."""
        return await wrong_outside(self.onceward, self.roles, self.arguments)


async def wrong_outside(onceward: Onceward, roles: tuple[str, ...], arguments: Json) -> list[str]:
    order = await onceward.provider.order(arguments["order_id"])
    quote = await onceward.provider.found_quote(arguments["quote_id"])
    schema = (await offered(onceward, ("support",)))["refund_payment"]
    found = {
        "allowed": "refund_payment" in await offered(onceward, roles),
        "schema_valid": Draft202012Validator(schema).is_valid(arguments),
        "authorized": order["merchant"] == "tenant-a",
        "business_valid": quote["state"] == "open",
    }
    return [name for name, is_well in found.items() if not is_well]


async def offered(onceward: Onceward, roles: tuple[str, ...]) -> dict[str, Json]:
    """The tools that the door shows to a caller with these roles, each with its schema."""
    headers = {"Authorization": f"Bearer {onceward.token(roles=roles)}"}
    answer = await onceward.door.get("/v1/tools", params={"surface": "anthropic-messages"}, headers=headers)
    return {tool["name"]: tool["input_schema"] for tool in answer.json()["tools"]}


# -- what goes wrong afterwards


@dataclass(frozen=True)
class Parked:
    """A good proposal that waits for a person, and what can happen to it meanwhile."""

    request: Request
    books: Database
    operation_id: str

    @classmethod
    async def proposed(cls, onceward: Onceward, books: Database, standing: Standing = ALL_WELL) -> "Parked":
        request = await Request.of(onceward, standing)
        reply = await request.deliver()
        assert (reply.code, await request.wrong()) == ("approval_required", [])
        return cls(request, books, reply.operation_id)

    @property
    def onceward(self) -> Onceward:
        return self.request.onceward

    async def loses_the_tool(self) -> None:
        await self._store(operations, roles=["viewer"])

    async def no_longer_fits(self) -> None:
        await self._store(operations, arguments=as_text(self.request.arguments | {"amount": str(LARGE)}))

    async def becomes_another_refund(self) -> None:
        """One that would be good if it had been proposed, of the same payment and under the same id."""
        other = await self.onceward.provider.refund_arguments(self.request.arguments["order_id"], LARGE - 1)
        await self._store(operations, arguments=as_text(other))

    async def order_changes_hands(self) -> None:
        await self._change(orders, "order_id", merchant="tenant-b")
        await self._change(quotes, "quote_id", merchant="tenant-b")

    async def quote_expires(self) -> None:
        await self._change(quotes, "quote_id", expires_at=func.now())

    async def quote_is_used(self) -> None:
        await self._change(quotes, "quote_id", consumed_at=func.now())

    async def payment_is_replaced(self) -> None:
        await self.onceward.provider.replace_payment(self.request.arguments["order_id"])

    async def nobody_decides(self) -> None:
        """The question's time has passed, and the operation notices."""
        waited = timedelta(days=30)
        moved = {"asked_at": approvals.c.asked_at - waited, "expires_at": approvals.c.expires_at - waited}
        await self._store(approvals, **moved)
        await self.onceward.temporal.get_workflow_handle(self.operation_id).signal(NUDGE)

    async def person_denies(self) -> None:
        page = await self.onceward.deny(self.operation_id, "Not this one.")
        assert page.status_code == 200

    async def person_approves(self) -> None:
        page = await self.onceward.approve(self.operation_id)
        assert page.status_code == 200

    async def end(self) -> Reply:
        """What the caller reads at the end, which is a failure for good."""
        assert await self.onceward.until(self.operation_id, *ENDS) == "failed_terminal"
        reply = await self.request.deliver()
        assert (reply.only["final"], reply.operation_id) == (True, self.operation_id)
        return reply

    async def wrong(self) -> list[str]:
        """What is wrong by now with what is stored."""
        (row,) = await self.onceward.rows(select(operations).where(operations.c.operation_id == self.operation_id))
        return await wrong_outside(self.onceward, tuple(row.roles), from_text(row.arguments))

    async def words(self) -> list[tuple[str, str]]:
        """What people have said to the question, and what has become of it."""
        said = select(decisions.c.choice, approvals.c.state).join_from(decisions, approvals)
        return [
            tuple(row) for row in await self.onceward.rows(said.where(approvals.c.operation_id == self.operation_id))
        ]

    async def _store(self, table: Table, **values: Any) -> None:
        """As the tables' owner, past everything that keeps others from it."""
        async with self.onceward.owner.transaction() as connection:
            await connection.execute(table.update().where(table.c.operation_id == self.operation_id).values(**values))

    async def _change(self, table: Table, key: str, **values: Any) -> None:
        """In the provider's books."""
        async with self.books.transaction() as connection:
            await connection.execute(table.update().where(table.c[key] == self.request.arguments[key]).values(**values))


Event = Callable[[Parked], Awaitable[None]]

GOES_WRONG: dict[str, Event] = {
    "allowed": Parked.loses_the_tool,
    "schema_valid": Parked.no_longer_fits,
    "authorized": Parked.order_changes_hands,
    "business_valid": Parked.quote_expires,
}


# -- the rows


def test_each_row_is_one_of_three_kinds() -> None:
    assert (len(PASSING), len(WRONG), len(UNGRANTED)) == (2, 20, 1)
    assert len(ROWS) == 23


@pytest.mark.parametrize("standing", PASSING)
async def test_what_passes_is_done_once_however_often_it_is_delivered(onceward: Onceward, standing: Standing) -> None:
    request, before = await Request.of(onceward, standing), await Counted.now(onceward)
    assert await request.wrong() == []
    asked = await request.deliver()
    await people_decide(onceward, asked, standing)
    done = await request.deliver(wait_for="end")
    (made,) = (await onceward.provider.ledger(done.operation_id))["refunds"]
    assert (done.only["status"], done.only["data"]["refund_id"]) == ("succeeded", made["refund_id"])
    once = Counted(questions=int(standing.approval_required), claims=1, handler_calls=1, posts=1, effects=1)
    assert await before.more(onceward) == once
    again = await request.deliver(wait_for="end")
    assert (again.only["data"], again.only["replayed"]) == (done.only["data"], True)
    assert await before.more(onceward) == once


async def people_decide(onceward: Onceward, asked: Reply, standing: Standing) -> None:
    """They approve if the row says that they did. Where nobody is asked they have nothing to decide."""
    if standing.approval_granted:
        assert asked.code == "approval_required"
        assert (await onceward.approve(asked.operation_id)).status_code == 200


@pytest.mark.parametrize("standing", WRONG)
async def test_what_is_wrong_from_the_start_is_refused_and_nobody_is_asked(
    onceward: Onceward, standing: Standing
) -> None:
    request, before = await Request.of(onceward, standing), await Counted.now(onceward)
    wrong = await request.wrong()
    assert wrong == wrong_in(standing)
    layer, code = REFUSALS[wrong[0]]
    for reply in (await request.deliver(wait_for="end"), await request.deliver(wait_for="end")):
        assert (reply.only["status"], reply.code, reply.only["final"]) == ("failed_terminal", code, True)
        assert (reply.only["operation_id"] is None) is (layer in AT_THE_DOOR)
    assert await request.refusals() == [(layer, code)]
    assert await before.more(onceward) == NOTHING


@pytest.mark.parametrize("standing", WRONG)
async def test_what_went_wrong_while_the_question_waited_is_not_done_although_a_person_approves(
    onceward: Onceward, books: Database, standing: Standing
) -> None:
    parked = await Parked.proposed(onceward, books)
    for name in wrong_in(standing):
        await GOES_WRONG[name](parked)
    wrong, before = await parked.wrong(), await Counted.now(onceward)
    assert wrong == wrong_in(standing)
    await parked.person_approves()
    assert (await parked.end()).code == "approval_stale"
    assert await parked.words() == [("approve", "void")]
    assert (await parked.request.refusals())[-1] == REFUSALS[wrong[0]]
    assert await before.more(onceward) == NOTHING


@pytest.mark.parametrize(
    ("event", "layer", "code"),
    [
        (Parked.payment_is_replaced, "business", "quote_changed"),
        (Parked.quote_is_used, "business", "quote_consumed"),
        (Parked.becomes_another_refund, "schema", "idempotency_conflict"),
    ],
)
async def test_what_people_were_not_asked_about_is_not_done_although_a_person_approves(
    onceward: Onceward, books: Database, event: Event, layer: str, code: str
) -> None:
    parked = await Parked.proposed(onceward, books)
    await event(parked)
    before = await Counted.now(onceward)
    await parked.person_approves()
    assert (await parked.end()).code == "approval_stale"
    assert (await parked.request.refusals())[-1] == (layer, code)
    assert await before.more(onceward) == NOTHING


@pytest.mark.parametrize("standing", UNGRANTED)
async def test_what_nobody_has_granted_waits(onceward: Onceward, standing: Standing) -> None:
    request, before = await Request.of(onceward, standing), await Counted.now(onceward)
    assert await request.wrong() == []
    for reply in (await request.deliver(), await request.deliver()):
        assert (reply.code, reply.only["final"]) == ("approval_required", False)
    assert await before.more(onceward) == Counted(questions=1)


@pytest.mark.parametrize(
    ("event", "code"), [(Parked.nobody_decides, "approval_expired"), (Parked.person_denies, "approval_denied")]
)
@pytest.mark.parametrize("standing", UNGRANTED)
async def test_what_is_never_granted_is_never_done(
    onceward: Onceward, books: Database, standing: Standing, event: Event, code: str
) -> None:
    parked, before = await Parked.proposed(onceward, books, standing), await Counted.now(onceward)
    await event(parked)
    assert (await parked.end()).code == code
    assert await before.more(onceward) == NOTHING
