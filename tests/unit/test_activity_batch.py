"""A batch, item by item: what is sent, what is left out, and how it ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import pytest
from pydantic import Field
from temporalio.exceptions import ApplicationError

from activities import reconcile
from tests.support.acts import cleared
from tests.support.steps import LENIENT, STRICT, Stage, Till
from workflows.domain.approval import Binding, Choice, Clearance
from workflows.domain.batch import BatchResult
from workflows.domain.contract import Arguments, Batch, Contract, Limits, Risk
from workflows.domain.effect import Dispatch, Effect
from workflows.domain.impact import Impact, Inspection, Item, Resource, version_of
from workflows.domain.operation import Operation
from workflows.domain.policy import Policy
from workflows.domain.principal import Principal
from workflows.messages import Judgement, Report, Step

IDS = ("a", "b", "c")
SETTLED = 40.0
AFTER_THE_LEASE, AFTER_GIVING_UP = 13.0, 901.0


class Line(Arguments):
    line_id: str


class Lines(Arguments):
    order_id: str
    lines: Annotated[list[Line], Field(min_length=1)]


@dataclass
class Clerk(Till):
    """Writes item by item. `does` tells what a send of an item comes to; what is applied is found again."""

    does: dict[str, list[Effect]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=lambda: dict.fromkeys(IDS, "1"))
    against: Mapping[str, str] = field(default_factory=dict)
    looked_at: list[tuple[str, ...]] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)
    hours: "SlowHours | None" = None

    async def inspect(self, arguments: Any, principal: Principal) -> Inspection:
        items = tuple(Item(line.line_id, self.versions[line.line_id]) for line in arguments.lines)
        self.looked_at.append(tuple(item.id for item in items))
        resource = Resource("order", "lines", "tenant-a", version_of(items))
        refused = {name: code for name, code in self.against.items() if name in {item.id for item in items}}
        return Inspection(Impact(resource, "Change lines", count=len(items), items=items), refused=refused)

    async def apply(self, arguments: Any, dispatch: Dispatch) -> Effect:
        assert [line.line_id for line in arguments.lines] == [dispatch.item]
        self.sent.append(dispatch)
        answers = self.does.get(dispatch.item) or [done(dispatch.item)]
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def look_up(self, arguments: Any, dispatch: Dispatch) -> Effect | None:
        assert [line.line_id for line in arguments.lines] == [dispatch.item]
        self.looked_up.append(dispatch.item)
        if self.hours is not None:
            self.hours.now += 1.0
            raise TimeoutError
        return None

    @property
    def sends(self) -> list[str]:
        return sorted(dispatch.item for dispatch in self.sent)


def done(item: str) -> Effect:
    return Effect.applied(f"rf-{item}", {})


def contract_of(till: Till) -> Contract:
    return replace(
        till.contract,
        arguments=Lines,
        result=BatchResult,
        batch=Batch("lines", "line_id", at_once=2),
        limits=Limits(sends=3),
        risk=Risk.LOW,
    )


UNASKED = replace(LENIENT, unasked_count=len(IDS))


async def begun(policy: Policy = UNASKED, ids: tuple[str, ...] = IDS, **clerk: Any) -> tuple[Stage, Clerk, Operation]:
    """A batch that the gate has let pass."""
    stage = Stage(policy)
    hired = Clerk(contract_of(stage.till), **clerk)
    hired.versions = dict.fromkeys(ids, "1")
    stage.plays(hired)
    operation = await cleared(stage)
    arguments = {"order_id": "O-17", "lines": [{"line_id": item} for item in ids]}
    operation = replace(operation, arguments=arguments, contract_hash=hired.contract.hash)
    operation = replace(operation, intent_hash=operation.meaning())
    kept = stage.world.kept(operation.operation_id)
    kept.operation, kept.clearance = operation, Clearance(Binding(operation.intent_hash, "", "policy-1"))
    return stage, hired, operation


async def ended(stage: Stage, operation: Operation, code: str | None = None) -> dict[str, Any]:
    ending = await stage.settle(operation, code)
    told = dict((await stage.operations.load(operation.operation_id)).result or {})
    return {"state": ending.state, "code": ending.code} | told


async def test_each_item_is_sent_once_under_a_key_of_its_own() -> None:
    stage, clerk, operation = await begun()
    assert await stage.apply(operation) == Report(Step.SETTLE, progress="3 of 3 items sent")
    assert clerk.sends == list(IDS)
    assert len({dispatch.idempotency_key for dispatch in clerk.sent}) == 3
    assert (await ended(stage, operation))["outcome"] == "complete"
    assert (await stage.apply(operation)).step is Step.SETTLE
    assert clerk.sends == list(IDS)


async def test_what_became_of_each_item_is_told_by_its_id() -> None:
    stage, _, operation = await begun(does={"b": [Effect.rejected("account_closed")]})
    await stage.apply(operation)
    assert await ended(stage, operation) == {
        "state": "succeeded",
        "code": None,
        "outcome": "partial",
        "succeeded": ["a", "c"],
        "failed": [{"item": "b", "code": "account_closed"}],
        "unconfirmed": [],
    }


async def test_when_nothing_was_done_the_end_is_a_refusal() -> None:
    closed = [Effect.rejected("account_closed")]
    stage, _, operation = await begun(does=dict.fromkeys(IDS, closed))
    await stage.apply(operation)
    assert await ended(stage, operation) == {"state": "failed_terminal", "code": "account_closed"}


async def test_items_that_failed_for_different_reasons_are_named_with_each_reason() -> None:
    codes = {item: [Effect.rejected(code)] for item, code in zip(IDS, ("x_one", "x_two", "x_one"), strict=True)}
    stage, _, operation = await begun(does=codes)
    await stage.apply(operation)
    assert (await ended(stage, operation))["code"] == "batch_failed"
    details = stage.world.kept(operation.operation_id).details
    assert {(detail.path, detail.code) for detail in details} == {("/a", "x_one"), ("/b", "x_two"), ("/c", "x_one")}


async def test_an_uncertain_item_keeps_the_others_from_nothing_and_the_batch_from_its_end() -> None:
    stage, clerk, operation = await begun(does={"b": [Effect.unknown()]})
    assert (await stage.apply(operation)).step is Step.RECONCILE
    assert clerk.sends == list(IDS)
    assert (await ended(stage, operation))["state"] == "unconfirmed"


async def test_an_item_that_is_proven_absent_is_sent_again_and_no_other() -> None:
    stage, clerk, operation = await begun(does={"b": [Effect.unknown(), done("b")]})
    await stage.apply(operation)
    stage.world.advance(SETTLED)
    assert (await stage.reconcile(operation)).step is Step.SEND_AGAIN
    assert (await stage.validate(operation)).step is Step.GO
    assert clerk.looked_at == [("b",)]
    assert (await stage.apply(operation)).step is Step.SETTLE
    assert clerk.sends == ["a", "b", "b", "c"]
    assert (await ended(stage, operation))["outcome"] == "complete"


async def test_items_that_nobody_has_sent_yet_are_not_forgotten_when_the_uncertain_ones_are_found() -> None:
    stage, clerk, operation = await begun()
    claim = await stage.claims.acquire(operation.operation_id, "died", 12.0, "a")
    await stage.claims.begin_send(claim, 1.0)
    stage.world.advance(SETTLED)
    await stage.claims.conclude_by_evidence(operation.operation_id, 1, done("a"), "a")
    assert (await stage.reconcile(operation)).step is Step.SEND_AGAIN
    assert (await ended(stage, operation))["state"] == "unconfirmed"
    await stage.validate(operation)
    assert (await stage.apply(operation)).step is Step.SETTLE
    assert clerk.sends == ["b", "c"]
    assert (await ended(stage, operation))["succeeded"] == list(IDS)


async def test_a_downstream_that_is_busy_is_left_alone_by_the_whole_batch() -> None:
    busy = Effect.rejected("rate_limited", retryable=True, retry_after_seconds=42.0)
    stage, _, operation = await begun(does={"a": [busy, done("a")], "b": [busy, done("b")]})
    report = await stage.apply(operation)
    assert (report.step, report.pause_seconds) == (Step.SEND_AGAIN, 42.0)
    await stage.validate(operation)
    assert (await stage.apply(operation)).step is Step.SETTLE
    assert (await ended(stage, operation))["outcome"] == "complete"


async def test_a_tool_that_raises_on_one_item_leaves_that_one_uncertain_and_goes_on() -> None:
    stage, clerk, operation = await begun()
    clerk.does["a"] = [None]  # type: ignore[list-item]
    report = await stage.apply(operation)
    assert (report.step, clerk.sends) == (Step.RECONCILE, list(IDS))


@pytest.mark.parametrize("code", ["canceled", "tool_changed"])
async def test_a_refusal_in_the_middle_ends_the_rest_and_keeps_what_was_done(code: str) -> None:
    stage, _, operation = await begun()
    claim = await stage.claims.acquire(operation.operation_id, "worker-1", 12.0, "a")
    await stage.claims.begin_send(claim, 1.0)
    await stage.claims.conclude(claim, done("a"))
    told = await ended(stage, operation, code)
    assert (told["outcome"], told["succeeded"]) == ("partial", ["a"])
    assert told["failed"] == [{"item": "b", "code": code}, {"item": "c", "code": code}]


async def test_a_batch_that_ended_in_part_is_told_as_ended_to_whoever_carries_it_again() -> None:
    stage, _, operation = await begun()
    await done_so_far(stage, operation, "a")
    first = await ended(stage, operation, "canceled")

    again = await stage.validate(operation)

    assert again == Judgement(Step.SETTLE)
    assert await ended(stage, operation, again.code) == first


async def test_an_item_that_a_rule_is_against_by_now_is_left_out() -> None:
    stage, clerk, operation = await begun()
    await done_so_far(stage, operation, "a")
    clerk.against = {"b": "account_closed"}
    assert (await stage.validate(operation)).step is Step.GO
    await stage.apply(operation)
    assert clerk.sends == ["c"]
    assert (await ended(stage, operation))["failed"] == [{"item": "b", "code": "account_closed"}]


async def test_an_item_that_is_no_longer_what_was_approved_is_left_out() -> None:
    stage, clerk, operation = await begun(STRICT)
    kept = stage.world.kept(operation.operation_id)
    kept.clearance = None
    assert (await stage.validate(operation)).step is Step.WAIT
    (question,) = stage.world.questions(operation.operation_id)
    await stage.decide(question.approval_id, Choice.APPROVE)
    assert (await stage.validate(operation)).step is Step.GO
    await done_so_far(stage, operation, "a")
    clerk.versions |= {"a": "2", "c": "2"}

    assert (await stage.validate(operation)).step is Step.GO
    assert clerk.looked_at[-1] == ("b", "c")
    await stage.apply(operation)

    assert clerk.sends == ["b"]
    told = await ended(stage, operation)
    assert (told["succeeded"], told["failed"]) == (["a", "b"], [{"item": "c", "code": "approval_stale"}])


async def done_so_far(stage: Stage, operation: Operation, item: str) -> None:
    claim = await stage.claims.acquire(operation.operation_id, "worker-1", 12.0, item)
    await stage.claims.begin_send(claim, 1.0)
    await stage.claims.conclude(claim, done(item))


async def test_an_item_that_an_operator_gives_up_is_told_as_unconfirmed() -> None:
    stage, _, operation = await begun(does={"b": [Effect.unknown()]})
    await stage.apply(operation)
    await stage.claims.abandon(operation.operation_id, 1, "b")
    told = await ended(stage, operation)
    assert (told["succeeded"], told["unconfirmed"]) == (["a", "c"], ["b"])


@pytest.mark.parametrize("applied", ["a", None], ids=["partly done", "nothing done"])
async def test_an_item_that_is_not_sent_any_more_has_the_same_reason_on_record_as_it_is_told(
    applied: str | None,
) -> None:
    """It was claimed and nothing came of it: what people read on the page is its claim."""
    stage, _, operation = await begun()
    if applied:
        await done_so_far(stage, operation, applied)
    claim = await stage.claims.acquire(operation.operation_id, "worker-1", 12.0, "b")
    await stage.claims.begin_send(claim, 1.0)
    await stage.claims.conclude(claim, Effect.rejected("rate_limited", retryable=True))
    refused = await stage.claims.acquire(operation.operation_id, "worker-1", 12.0, "c")
    await stage.claims.begin_send(refused, 1.0)
    await stage.claims.conclude(refused, Effect.rejected("account_closed"))

    await ended(stage, operation, "canceled")

    known = await stage.claims.items(operation.operation_id)
    assert (known["b"].effect, known["c"].effect) == (Effect.rejected("canceled"), Effect.rejected("account_closed"))


async def test_of_a_batch_that_was_given_up_each_item_is_named_with_what_is_known_of_it() -> None:
    closed = [Effect.rejected("account_closed")]
    stage, _, operation = await begun(does={"a": closed, "b": [Effect.unknown()], "c": closed})
    await stage.apply(operation)
    await stage.claims.abandon(operation.operation_id, 1, "b")
    assert await ended(stage, operation) == {"state": "failed_terminal", "code": "outcome_abandoned"}
    details = stage.world.kept(operation.operation_id).details
    assert [(detail.path, detail.code) for detail in details] == [
        ("/b", "outcome_abandoned"),
        ("/a", "account_closed"),
        ("/c", "account_closed"),
    ]


async def test_a_batch_whose_tool_is_gone_is_not_called_complete_for_the_items_that_nobody_can_name() -> None:
    stage, clerk, operation = await begun()
    await done_so_far(stage, operation, "a")
    clerk.contract = replace(clerk.contract, name="gone")

    told = await ended(stage, operation, "unknown_tool")
    assert (told["state"], told["outcome"], told["succeeded"]) == ("succeeded", "partial", ["a"])


async def test_a_pass_in_which_nothing_could_be_sent_is_followed_by_a_pause() -> None:
    stage, _, operation = await begun()
    for item in IDS:
        await stage.claims.acquire(operation.operation_id, "another-worker", 12.0, item)
    report = await stage.apply(operation)
    assert (report.step, report.pause_seconds > 0) == (Step.SEND_AGAIN, True)


async def test_a_begun_batch_whose_tool_is_gone_ends_with_what_was_done() -> None:
    busy = Effect.rejected("rate_limited", retryable=True, retry_after_seconds=5.0)
    stage, clerk, operation = await begun(does={"b": [busy]})
    await stage.apply(operation)
    stage.world.advance(AFTER_THE_LEASE)
    clerk.contract = replace(clerk.contract, name="gone")

    with pytest.raises(ApplicationError, match="unknown_tool"):
        await stage.validate(operation)
    told = await ended(stage, operation, "unknown_tool")
    assert (told["state"], told["outcome"]) == ("succeeded", "partial")


async def test_items_that_take_too_long_to_look_up_all_have_their_turn_and_reach_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = tuple(f"item-{number}" for number in range(30))
    stage, clerk, operation = await begun(
        replace(LENIENT, unasked_count=30), many, does={item: [Effect.unknown()] for item in many}
    )
    await stage.apply(operation)
    stage.world.advance(AFTER_GIVING_UP)
    clerk.hours = SlowHours()
    monkeypatch.setattr(reconcile, "time", clerk.hours)

    reports = [await stage.reconcile(operation) for _ in range(20)]

    assert {report.needs_person for report in reports} == {True}
    assert min(report.pause_seconds for report in reports) >= 60.0
    assert set(clerk.looked_up) == set(many)


class SlowHours:
    """A clock that a look moves on by as much as it may take."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now
