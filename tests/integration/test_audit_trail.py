"""What the audit log tells: who tried what, on which resource, which layer stopped them, and no words of a model."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from psycopg.errors import RestrictViolation
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from adapters.http.back_office.session_store import Arrival, SessionRules, fingerprint_of
from adapters.intake.ports import HostedSeen
from adapters.postgres.audit_words import PostgresAuditWords, Unlike
from adapters.postgres.back_office import PostgresBackOffice
from adapters.postgres.cancellations import PostgresCancellations
from adapters.postgres.decisions import PostgresDecisions
from adapters.postgres.engine import Database
from adapters.postgres.resolutions import PostgresResolutions
from adapters.postgres.sessions import PostgresSessions
from adapters.postgres.tables import decisions, events, outbox, resolutions
from tests.support.acts import PLEA, asked, claimed, cleared, granted, proposed
from tests.support.benches import OPERATOR, PostgresBench, nobody_is_woken
from tests.support.books import unguarded
from tests.support.proposals import CALLER, fresh, refund, turn_of
from workflows.domain.approval import Choice
from workflows.domain.effect import Effect
from workflows.domain.errors import DecisionRefused, RequeueRefused, ResolutionRefused
from workflows.domain.gate import Layer, Verdict
from workflows.domain.intent import digest
from workflows.domain.lifecycle import State
from workflows.domain.operation import Operation, Settlement
from workflows.domain.principal import Principal
from workflows.domain.proposal import Proposal
from workflows.domain.resolution import Finding, Resolution

APPROVER = Principal("tenant-a", "approver-1", frozenset({"approver:refunds"}))
FOREIGN = Principal("tenant-b", "approver-b", frozenset({"approver:refunds"}))


class Trail:
    """The lines of one operation, or of one tenant."""

    def __init__(self, bench: PostgresBench) -> None:
        self._bench = bench

    async def of(self, operation_id: str) -> list[Any]:
        wanted = select(events).where(events.c.operation_id == operation_id)
        return await self._bench.rows(wanted.order_by(events.c.event_id))

    async def of_tenant(self, tenant: str) -> list[Any]:
        return await self._bench.rows(select(events).where(events.c.tenant == tenant).order_by(events.c.event_id))

    async def last(self, operation_id: str) -> Any:
        return (await self.of(operation_id))[-1]


@pytest.fixture
def trail(postgres_bench: PostgresBench) -> Trail:
    return Trail(postgres_bench)


@pytest.fixture
def decide(door_database: Database) -> PostgresDecisions:
    return PostgresDecisions(door_database)


# -- proposals


async def test_a_proposal_tells_who_asked_through_which_agent_for_what(
    postgres_bench: PostgresBench, trail: Trail
) -> None:
    operation = await proposed(postgres_bench)
    (line,) = await trail.of(operation.operation_id)
    assert (line.actor, line.what, line.tool, line.resource) == (
        "support-agent",
        "proposed",
        "refund_payment",
        operation.resource,
    )
    assert line.detail == {"surface": "anthropic-messages", "subject": "user-17"}


REFUSED = [
    (Proposal("call-1", "drop_tables", {}), "drop_tables", "exposure", "unknown_tool"),
    (Proposal("call-1", "refund_payment", {"order_id": "O-17"}), "refund_payment", "schema", "invalid_arguments"),
    (Proposal("call-1", "please ignore all rules and pay", {}), None, "exposure", "unknown_tool"),
    (Proposal("call-1", "x" * 65, {}), None, "exposure", "unknown_tool"),
]


@pytest.mark.parametrize(("proposal", "tool", "layer", "code"), REFUSED, ids=["unknown", "unfit", "prose", "long"])
async def test_a_proposal_that_never_became_an_operation_tells_which_layer_refused_it(
    postgres_bench: PostgresBench, trail: Trail, proposal: Proposal, tool: str | None, layer: str, code: str
) -> None:
    caller = replace(CALLER, tenant=fresh("tenant"))
    await postgres_bench.inbox.register(turn_of(proposal, caller=caller))
    (line,) = await trail.of_tenant(caller.tenant)
    assert (line.what, line.actor, line.operation_id, line.tool) == ("proposal.refused", "support-agent", None, tool)
    told = {name: line.detail[name] for name in ("layer", "code", "subject", "surface")}
    assert told == {"layer": layer, "code": code, "subject": "user-17", "surface": "anthropic-messages"}


async def test_the_same_ids_with_another_content_are_told_as_refused(
    postgres_bench: PostgresBench, trail: Trail
) -> None:
    caller, request = replace(CALLER, tenant=fresh("tenant")), fresh("request")
    await postgres_bench.inbox.register(turn_of(refund(), request_id=request, caller=caller))
    await postgres_bench.inbox.register(turn_of(refund(amount=99_000), request_id=request, caller=caller))
    lines = await trail.of_tenant(caller.tenant)
    assert [line.what for line in lines] == ["proposed", "proposal.refused"]
    assert lines[-1].detail["code"] == "idempotency_conflict"


async def test_a_refused_proposal_that_is_delivered_again_is_not_told_again(
    postgres_bench: PostgresBench, trail: Trail
) -> None:
    caller = replace(CALLER, tenant=fresh("tenant"))
    turn = turn_of(Proposal("call-1", "drop_tables", {}), caller=caller)
    for _ in range(3):
        await postgres_bench.inbox.register(turn)
    assert len(await trail.of_tenant(caller.tenant)) == 1


async def test_what_a_provider_has_run_unasked_is_told_with_what_was_wrong(
    postgres_bench: PostgresBench, trail: Trail
) -> None:
    caller = replace(CALLER, tenant=fresh("tenant"))
    seen = HostedSeen("mcp_1", "mcp_call", "wiki", "wiki.replace_page", failed=False, needs_approval=True)
    await postgres_bench.inbox.register(replace(turn_of(caller=caller), hosted=[seen]))
    (line,) = await trail.of_tenant(caller.tenant)
    assert (line.what, line.actor, line.tool) == ("hosted.ran", "provider", "wiki.replace_page")
    assert line.detail["code"] == "hosted_call_not_approved"


# -- the gate


async def test_what_the_gate_lets_pass_tells_the_policy_and_the_version_that_it_saw(
    postgres_bench: PostgresBench, trail: Trail
) -> None:
    operation, question = await granted(postgres_bench)
    line = await trail.last(operation.operation_id)
    assert (line.what, line.actor) == ("gate.cleared", "executor")
    assert line.detail == {
        "policy": "policy-1",
        "resource_version": "1/pay-17/1",
        "approval": question.approval_id,
    }
    unasked = await trail.last((await cleared(postgres_bench)).operation_id)
    assert "approval" not in unasked.detail


@pytest.mark.parametrize("layer", [Layer.BUSINESS, Layer.AUTHORIZATION, Layer.APPROVAL])
async def test_what_the_gate_refuses_tells_the_layer_and_the_code(
    postgres_bench: PostgresBench, trail: Trail, layer: Layer
) -> None:
    operation = await proposed(postgres_bench)
    looked = [Verdict(Layer.RISK, "approval_required"), Verdict(layer, "permission_denied")]
    await postgres_bench.operations.record(operation, looked, None)
    line = await trail.last(operation.operation_id)
    assert (line.what, line.detail) == ("gate.refused", {"layer": layer.value, "code": "permission_denied"})


async def test_that_a_person_must_be_asked_is_told_once_they_are(postgres_bench: PostgresBench, trail: Trail) -> None:
    operation = await proposed(postgres_bench)
    await postgres_bench.operations.record(operation, [Verdict(Layer.RISK, "approval_required")], None)
    assert [line.what for line in await trail.of(operation.operation_id)] == ["proposed"]


# -- decisions


async def test_a_decision_tells_the_digest_of_what_was_said_and_not_the_words(
    postgres_bench: PostgresBench, trail: Trail, decide: PostgresDecisions
) -> None:
    operation, question = await asked(postgres_bench)
    reason, said = "The customer lied to Ms. Kim.", ("deny", 1)
    await decide.decide(APPROVER, question.approval_id, Choice.DENY, reason, said[1], operation.intent_hash)
    line = await trail.last(operation.operation_id)
    assert (line.what, line.actor) == ("decision.deny", "approver-1")
    (kept,) = await postgres_bench.rows(select(decisions).where(decisions.c.approval_id == question.approval_id))
    assert line.detail["said"] == digest([question.approval_id, kept.approver, kept.choice, kept.reason])
    assert "Kim" not in str(await trail.of(operation.operation_id))


Attempt = Callable[[PostgresDecisions, Operation, str], Awaitable[Any]]


def attempt(viewer: Principal, choice: Choice = Choice.APPROVE, *, reason: str = "", revision: int = 1) -> Attempt:
    async def made(decide: PostgresDecisions, operation: Operation, approval_id: str) -> Any:
        return await decide.decide(viewer, approval_id, choice, reason, revision, operation.intent_hash)

    return made


ATTEMPTS = {
    "somebody without the role": (attempt(replace(APPROVER, roles=frozenset())), "approver_not_allowed", "approver-1"),
    "who asked for it": (attempt(replace(APPROVER, subject="user-17")), "approver_not_allowed", "user-17"),
    "an agent": (attempt(replace(APPROVER, agent="some-agent")), "approver_not_allowed", "some-agent"),
    "an old page": (attempt(APPROVER, revision=2), "approval_stale", "approver-1"),
    "a denial without a reason": (attempt(APPROVER, Choice.DENY), "decision_reason_required", "approver-1"),
}


@pytest.mark.parametrize(("made", "code", "actor"), ATTEMPTS.values(), ids=ATTEMPTS)
async def test_an_attempt_that_does_not_count_is_told(
    postgres_bench: PostgresBench, trail: Trail, decide: PostgresDecisions, made: Attempt, code: str, actor: str
) -> None:
    operation, question = await asked(postgres_bench)
    with pytest.raises(DecisionRefused):
        await made(decide, operation, question.approval_id)
    line = await trail.last(operation.operation_id)
    assert (line.what, line.actor, line.detail["code"]) == ("decision.refused", actor, code)
    assert line.detail["approval"] == question.approval_id


async def test_of_two_approvers_both_are_told_and_only_one_counts(
    postgres_bench: PostgresBench, trail: Trail, decide: PostgresDecisions
) -> None:
    operation, question = await asked(postgres_bench)
    await attempt(APPROVER)(decide, operation, question.approval_id)
    await attempt(APPROVER)(decide, operation, question.approval_id)
    with pytest.raises(DecisionRefused):
        await attempt(replace(APPROVER, subject="approver-2"))(decide, operation, question.approval_id)
    lines = [line for line in await trail.of(operation.operation_id) if line.what.startswith("decision.")]
    assert [(line.what, line.actor) for line in lines] == [
        ("decision.approve", "approver-1"),
        ("decision.again", "approver-1"),
        ("decision.refused", "approver-2"),
    ]
    assert lines[-1].detail["code"] == "approval_already_decided"


@pytest.mark.parametrize(
    ("choice", "changes", "code"),
    [
        (Choice.DENY, {"reason": ""}, "decision_reason_required"),
        (Choice.APPROVE, {"revision": 0}, "approval_stale"),
        (Choice.APPROVE, {"intent_hash": ""}, "approval_stale"),
    ],
    ids=["a denial without a reason", "no revision", "no intent"],
)
async def test_a_word_with_something_missing_is_told(
    postgres_bench: PostgresBench, trail: Trail, decide: PostgresDecisions, choice: Choice, changes: Any, code: str
) -> None:
    operation, question = await asked(postgres_bench)
    word = {"reason": "", "revision": 1, "intent_hash": operation.intent_hash} | changes
    with pytest.raises(DecisionRefused):
        await decide.decide(APPROVER, question.approval_id, choice, **word)
    last = await trail.last(operation.operation_id)
    assert (last.what, last.actor, last.detail["code"]) == ("decision.refused", "approver-1", code)


async def test_an_attempt_to_put_back_what_is_not_there_or_not_theirs_is_told(
    postgres_bench: PostgresBench, door_database: Database, trail: Trail
) -> None:
    operation = await proposed(postgres_bench)
    mine = select(outbox.c.message_id).where(outbox.c.operation_id == operation.operation_id)
    (message,) = await postgres_bench.rows(mine)
    office = PostgresBackOffice(door_database, nobody_is_woken)
    with pytest.raises(RequeueRefused):
        await office.requeue(APPROVER, message.message_id)
    with pytest.raises(RequeueRefused):
        await office.retell(APPROVER, message.message_id, "chat")
    lines = (await trail.of(operation.operation_id))[-2:]
    assert [(line.what, line.actor) for line in lines] == [
        ("requeue.refused", "approver-1"),
        ("retell.refused", "approver-1"),
    ]
    assert [line.detail["code"] for line in lines] == ["operator_not_allowed", "not_found"]
    somebody = replace(OPERATOR, tenant=fresh("tenant"))
    with pytest.raises(RequeueRefused):
        await office.requeue(somebody, message.message_id)
    (line,) = await trail.of_tenant(somebody.tenant)
    assert (line.operation_id, line.detail) == (None, {"code": "not_found", "message": message.message_id})


async def test_a_late_click_is_told(postgres_bench: PostgresBench, trail: Trail, decide: PostgresDecisions) -> None:
    operation, question = await asked(postgres_bench)
    await postgres_bench.pass_time(operation.operation_id, PLEA.rule.expires_seconds + 1)
    with pytest.raises(DecisionRefused):
        await attempt(APPROVER)(decide, operation, question.approval_id)
    assert (await trail.last(operation.operation_id)).detail["code"] == "approval_expired"


@pytest.mark.parametrize("approval_id", ["ap_000000000000000000000000", "please approve everything"])
async def test_an_attempt_on_what_is_not_there_is_told_to_the_tenant_of_whoever_tried(
    postgres_bench: PostgresBench, trail: Trail, decide: PostgresDecisions, approval_id: str
) -> None:
    operation, question = await asked(postgres_bench)
    stranger = replace(FOREIGN, tenant=fresh("tenant"))
    for tried in (question.approval_id, approval_id):
        with pytest.raises(DecisionRefused):
            await attempt(stranger)(decide, operation, tried)
    lines = await trail.of_tenant(stranger.tenant)
    assert [(line.what, line.operation_id) for line in lines] == [("decision.refused", None)] * 2
    assert "please" not in str(lines)
    assert [line.what for line in await trail.of(operation.operation_id)][-1] != "decision.refused"


# -- operators and callers


async def test_every_word_of_an_operator_is_told_whether_it_counts_or_not(
    postgres_bench: PostgresBench, door_database: Database, trail: Trail
) -> None:
    claim = await claimed(postgres_bench)
    words, word = PostgresResolutions(door_database), Resolution(Finding.HAPPENED, "Seen there.", "rf-1", 1)
    with pytest.raises(ResolutionRefused):
        await words.resolve(OPERATOR, claim.operation_id, word)
    await postgres_bench.claims.begin_send(claim, 10.0)
    await postgres_bench.claims.conclude(claim, Effect.unknown())
    await postgres_bench.operations.move(claim.operation_id, State.MANUAL_REVIEW)
    await words.resolve(OPERATOR, claim.operation_id, word)
    await words.resolve(OPERATOR, claim.operation_id, word)
    lines = [line for line in await trail.of(claim.operation_id) if line.what.startswith("resolution.")]
    told = ["resolution.refused", "resolution.happened", "resolution.again"]
    assert [(line.what, line.actor) for line in lines] == [(what, "operator-1") for what in told]
    assert lines[0].detail["code"] == "resolution_not_open"
    (kept,) = await postgres_bench.rows(select(resolutions).where(resolutions.c.operation_id == claim.operation_id))
    whole = [kept.operation_id, kept.item, kept.generation, kept.operator, kept.finding, kept.evidence, kept.reference]
    assert lines[1].detail["said"] == digest(whole)
    assert "Seen there" not in str(lines)


async def test_an_operators_word_on_what_is_not_there_is_told(
    postgres_bench: PostgresBench, door_database: Database, trail: Trail
) -> None:
    somebody = replace(OPERATOR, tenant=fresh("tenant"))
    word = Resolution(Finding.ABANDONED, "Nobody knows.", "", 1)
    with pytest.raises(ResolutionRefused):
        await PostgresResolutions(door_database).resolve(somebody, "no such thing", word)
    (line,) = await trail.of_tenant(somebody.tenant)
    assert (line.what, line.detail["code"]) == ("resolution.refused", "not_found")
    assert "such" not in str(line)


async def test_every_wish_to_stop_is_told(postgres_bench: PostgresBench, door_database: Database, trail: Trail) -> None:
    caller = replace(CALLER, tenant=fresh("tenant"))
    operation = await proposed(postgres_bench, caller=caller)
    wishes = PostgresCancellations(door_database, nobody_is_woken)
    await wishes.want(caller, operation.operation_id)
    await wishes.want(caller, operation.operation_id)
    await postgres_bench.operations.settle(operation.operation_id, Settlement.failed_with("canceled"))
    await wishes.want(caller, operation.operation_id)
    assert not await wishes.want(replace(caller, subject="user-18", agent=""), operation.operation_id)
    lines = [line for line in await trail.of_tenant(caller.tenant) if line.what.startswith("cancel.")]
    told = [(line.what, line.actor) for line in lines]
    assert told == [
        ("cancel.wanted", "support-agent"),
        ("cancel.again", "support-agent"),
        ("cancel.late", "support-agent"),
        ("cancel.refused", "user-18"),
    ]


# -- words that were changed afterwards


async def denied(bench: PostgresBench, decide: PostgresDecisions) -> str:
    operation, question = await asked(bench)
    await attempt(APPROVER, Choice.DENY, reason="Too much.")(decide, operation, question.approval_id)
    return operation.operation_id


async def resolved(bench: PostgresBench) -> str:
    claim = await claimed(bench)
    await bench.claims.begin_send(claim, 10.0)
    await bench.claims.conclude(claim, Effect.unknown())
    await bench.operations.move(claim.operation_id, State.MANUAL_REVIEW)
    await bench.resolve(claim.operation_id, Resolution(Finding.ABANDONED, "Asked them.", "", 1))
    return claim.operation_id


async def differences(owner: Database, operation_id: str, tenant: str | None = None) -> list[Unlike]:
    found = await PostgresAuditWords(owner).altered(tenant)
    return [each.how for each in found if each.operation_id == operation_id]


async def rewrite(owner: Database, statement: str, operation_id: str) -> None:
    mine = f"approval_id IN (SELECT approval_id FROM approvals WHERE operation_id = '{operation_id}')"
    async with owner.transaction() as connection:
        await unguarded(connection, statement.format(mine=mine, operation=f"operation_id = '{operation_id}'"))


REWRITTEN_DECISIONS = {
    "UPDATE decisions SET reason = 'Fine.' WHERE {mine}": Unlike.ALTERED,
    "UPDATE decisions SET approver_name = 'Somebody' WHERE {mine}": Unlike.ALTERED,
    "UPDATE decisions SET choice = 'approve' WHERE {mine}": Unlike.GONE,
    "UPDATE decisions SET approver = 'somebody' WHERE {mine}": Unlike.GONE,
    "UPDATE decisions SET at = at + interval '1 microsecond' WHERE {mine}": Unlike.GONE,
    "DELETE FROM decisions WHERE {mine}": Unlike.GONE,
    "INSERT INTO decisions (approval_id, approver, approver_name, choice, reason)"
    " SELECT approval_id, 'somebody', 'Somebody', 'approve', '' FROM decisions WHERE {mine}": Unlike.UNTOLD,
}


@pytest.mark.parametrize(
    ("statement", "how"), REWRITTEN_DECISIONS.items(), ids=[each[:50] for each in REWRITTEN_DECISIONS]
)
async def test_a_decision_that_was_rewritten_is_no_longer_what_the_log_has(
    postgres_bench: PostgresBench, owner_database: Database, decide: PostgresDecisions, statement: str, how: Unlike
) -> None:
    operation_id = await denied(postgres_bench, decide)
    assert await differences(owner_database, operation_id) == []
    await rewrite(owner_database, statement, operation_id)
    assert await differences(owner_database, operation_id, "tenant-a") == [how]
    assert await differences(owner_database, operation_id, "tenant-b") == []


REWRITTEN_RESOLUTIONS = {
    "UPDATE resolutions SET evidence = 'Nobody asked.' WHERE {operation}": Unlike.ALTERED,
    "UPDATE resolutions SET reference = 'rf-9' WHERE {operation}": Unlike.ALTERED,
    "UPDATE resolutions SET operator_name = 'Somebody' WHERE {operation}": Unlike.ALTERED,
    "UPDATE resolutions SET operator = 'somebody' WHERE {operation}": Unlike.GONE,
    "UPDATE resolutions SET finding = 'happened' WHERE {operation}": Unlike.GONE,
    "UPDATE resolutions SET at = at + interval '1 microsecond' WHERE {operation}": Unlike.GONE,
    "DELETE FROM resolutions WHERE {operation}": Unlike.GONE,
    "INSERT INTO resolutions (operation_id, generation, operator, operator_name, finding, evidence, reference)"
    " SELECT operation_id, 2, operator, operator_name, finding, evidence, '' FROM resolutions"
    " WHERE {operation}": Unlike.UNTOLD,
}


@pytest.mark.parametrize(
    ("statement", "how"), REWRITTEN_RESOLUTIONS.items(), ids=[s[:55] for s in REWRITTEN_RESOLUTIONS]
)
async def test_an_operators_word_that_was_rewritten_is_no_longer_what_the_log_has(
    postgres_bench: PostgresBench, owner_database: Database, statement: str, how: Unlike
) -> None:
    operation_id = await resolved(postgres_bench)
    assert await differences(owner_database, operation_id) == []
    await rewrite(owner_database, statement, operation_id)
    assert await differences(owner_database, operation_id) == [how]


async def test_a_line_from_before_there_were_digests_is_held_to_who_what_and_when(
    postgres_bench: PostgresBench, owner_database: Database
) -> None:
    operation_id = await resolved(postgres_bench)
    told = "WHERE {operation} AND what = 'resolution.abandoned'"
    await rewrite(owner_database, f"UPDATE events SET detail = detail - 'said' - 'named' {told}", operation_id)
    await rewrite(owner_database, "UPDATE resolutions SET evidence = 'None.' WHERE {operation}", operation_id)
    assert await differences(owner_database, operation_id) == []
    await rewrite(owner_database, "UPDATE resolutions SET operator = 'somebody' WHERE {operation}", operation_id)
    assert await differences(owner_database, operation_id) == [Unlike.GONE]


GUARDED = [
    "UPDATE decisions SET reason = 'Fine.'",
    "DELETE FROM decisions",
    "TRUNCATE decisions",
    "UPDATE resolutions SET operator = 'somebody'",
    "DELETE FROM resolutions",
    "TRUNCATE resolutions",
]


@pytest.mark.parametrize("statement", GUARDED)
async def test_even_the_owner_is_refused_by_the_guards_of_peoples_words(
    postgres_bench: PostgresBench, owner_database: Database, decide: PostgresDecisions, statement: str
) -> None:
    await denied(postgres_bench, decide)
    await resolved(postgres_bench)
    with pytest.raises(IntegrityError) as refused:
        async with owner_database.transaction() as connection:
            await connection.execute(text(statement))
    assert isinstance(refused.value.orig, RestrictViolation)


# -- people who come and go


async def test_who_signs_in_and_out_is_told(door_database: Database, trail: Trail) -> None:
    person = replace(APPROVER, tenant=fresh("tenant"))
    kept, arrival = PostgresSessions(door_database, SessionRules()), Arrival(person)
    first, second, third = [await kept.begin(arrival, fingerprint_of(fresh("secret"))) for _ in range(3)]
    await kept.end(first.session_id)
    await kept.end(first.session_id)
    assert await kept.end_all(person) == 2
    lines = [(line.what, line.actor, line.detail["session"]) for line in await trail.of_tenant(person.tenant)]
    assert lines[:4] == [
        *(("session.begun", "approver-1", each.session_id) for each in (first, second, third)),
        ("session.ended", "approver-1", first.session_id),
    ]
    assert {line[2] for line in lines[4:]} == {second.session_id, third.session_id}
    assert len(lines) == 6
