"""The tables, each with its sentence. The migrations make them; a test holds the two together."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Numeric,
    Table,
    Text,
    UniqueConstraint,
    func,
    literal_column,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()

OPERATION_ID = "operations.operation_id"

OBJECT = "md5(substr(resource, strpos(resource, ':') + 1))"
"""The digest of an object's name without its kind: names come from outside and may be longer than an index entry."""


def _now(name: str) -> "Column[Any]":
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


def _moment(name: str) -> "Column[Any]":
    return Column(name, DateTime(timezone=True))


operations = Table(
    "operations",
    metadata,
    Column("operation_id", Text, primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("agent", Text, nullable=False, server_default=""),
    Column("roles", ARRAY(Text), nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("tool", Text, nullable=False),
    Column("tool_version", Text, nullable=False),
    Column("contract_hash", Text, nullable=False),
    Column("writes", Boolean, nullable=False),
    Column("intent_hash", Text, nullable=False),
    Column("act_hash", Text, nullable=False),
    Column("arguments", Text, nullable=False),
    # As the model gave them, where that is something else; for people to compare, never to be sent.
    Column("given", Text),
    Column("resource", Text, nullable=False),
    # The operations of its turn that must have ended before it begins.
    Column("after", ARRAY(Text)),
    Column("state", Text, nullable=False),
    Column("code", Text),
    Column("details", JSONB),
    Column("result", Text),
    Column("reference", Text),
    Column("clearance", JSONB),
    _moment("cleared_at"),
    _now("created_at"),
    _now("updated_at"),
    _moment("ended_at"),
    _now("swept_at"),
    # When it gave up its content: the arguments are empty then, and the result says no more than the reference.
    _moment("pruned_at"),
    Index("operations_by_tenant", "tenant", text("created_at DESC"), text("operation_id DESC")),
    Index("operations_by_state", "tenant", "state", text("created_at DESC"), text("operation_id DESC")),
    Index("operations_by_tool", "tenant", "tool", text("created_at DESC"), text("operation_id DESC")),
    Index("operations_by_requester", "tenant", "subject", text("created_at DESC"), text("operation_id DESC")),
    Index("operations_by_object", "tenant", text(OBJECT)),
    Index("operations_at_rest", "tenant", "state", "updated_at", postgresql_where=text("ended_at IS NULL")),
    Index("ended_operations", "tenant", "ended_at", postgresql_where=text("ended_at IS NOT NULL")),
    Index(
        "operations_to_prune",
        "ended_at",
        postgresql_where=text(
            "ended_at IS NOT NULL AND pruned_at IS NULL AND code IS DISTINCT FROM 'outcome_abandoned'"
        ),
    ),
    Index("operations_by_act", "act_hash", "created_at", postgresql_where=text("writes")),
    Index("operations_to_sweep", "swept_at", postgresql_where=text("writes AND ended_at IS NULL")),
    Index("open_operations", "state", "created_at", postgresql_where=text("ended_at IS NULL")),
    comment="One logical act: what was meant, by whom, where it stands and how it ended.",
)

OBJECT_DIGEST: ColumnElement[str] = literal_column(OBJECT.replace("resource", "operations.resource"), type_=Text())
"""Written out, as the index is: with its text in a variable PostgreSQL does not know the expression again."""

calls = Table(
    "calls",
    metadata,
    Column("tenant", Text, primary_key=True),
    # Ids come from outside and may be longer than an index entry; their digests are not.
    Column("delivery_key", Text, primary_key=True),
    Column("request_id", Text, nullable=False),
    Column("call_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("surface", Text, nullable=False),
    Column("lineage", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("proposal_hash", Text, nullable=False),
    Column("operation_id", Text, ForeignKey(OPERATION_ID)),
    Column("attached", Boolean, nullable=False, server_default=text("false")),
    Column("hosted", Boolean, nullable=False, server_default=text("false")),
    Column("refusal", JSONB),
    Column("deliveries", Integer, nullable=False, server_default="1"),
    _now("created_at"),
    Index("calls_by_operation", "operation_id"),
    Index("calls_by_id", "tenant", text("md5(call_id)")),
    Index("calls_by_request", "tenant", text("md5(request_id)")),
    Index("refused_calls", "tenant", "created_at", postgresql_where=text("refusal IS NOT NULL")),
    Index("calls_by_lineage", "lineage", "created_at"),
    Index("hosted_approvals", "tenant", text("md5(call_id)"), postgresql_where=text("hosted")),
    comment="The inbox: every proposal that was ever delivered, and the operation or the refusal that it became.",
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("verdict_id", BigInteger, Identity(), primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("request_id", Text),
    Column("call_id", Text),
    Column("operation_id", Text, ForeignKey(OPERATION_ID)),
    Column("layer", Text, nullable=False),
    Column("code", Text),
    _now("at"),
    Index("verdicts_by_operation", "operation_id"),
    Index("refusing_verdicts", "tenant", "at", postgresql_where=text("code IS NOT NULL")),
    comment="What each layer of the gate said of a call; code is null when it let the call pass.",
)

approvals = Table(
    "approvals",
    metadata,
    Column("approval_id", Text, primary_key=True),
    Column("operation_id", Text, ForeignKey(OPERATION_ID), nullable=False),
    Column("tenant", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("intent_hash", Text, nullable=False),
    Column("resource_version", Text, nullable=False),
    Column("policy_version", Text, nullable=False),
    Column("approver_role", Text, nullable=False),
    Column("quorum", Integer, nullable=False),
    Column("impact", JSONB, nullable=False),
    Column("why", Text, nullable=False),
    _now("asked_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    _moment("ended_at"),
    Column("consumed_generation", Integer),
    UniqueConstraint("operation_id", "revision", name="approvals_revision"),
    Index("one_open_approval", "operation_id", unique=True, postgresql_where=text("state IN ('pending', 'granted')")),
    Index("approvals_by_question", "tenant", "asked_at"),
    Index(
        "open_approvals",
        "tenant",
        "expires_at",
        "approval_id",
        postgresql_where=text("state IN ('pending', 'granted')"),
    ),
    comment="A question to the approvers, bound to one intent, one version of the resource and one policy.",
)

decisions = Table(
    "decisions",
    metadata,
    Column("decision_id", BigInteger, Identity(), primary_key=True),
    Column("approval_id", Text, ForeignKey("approvals.approval_id"), nullable=False),
    Column("approver", Text, nullable=False),
    Column("approver_name", Text, nullable=False),
    Column("choice", Text, nullable=False),
    Column("reason", Text, nullable=False),
    _now("at"),
    UniqueConstraint("approval_id", "approver", name="one_decision_each"),
    comment="What one person said to one question.",
)

resolutions = Table(
    "resolutions",
    metadata,
    Column("resolution_id", BigInteger, Identity(), primary_key=True),
    Column("operation_id", Text, ForeignKey(OPERATION_ID), nullable=False),
    Column("item", Text, nullable=False, server_default=""),
    Column("generation", Integer, nullable=False),
    Column("operator", Text, nullable=False),
    Column("operator_name", Text, nullable=False),
    Column("finding", Text, nullable=False),
    Column("evidence", Text, nullable=False),
    Column("reference", Text, nullable=False),
    _now("at"),
    UniqueConstraint("operation_id", "item", "generation", name="one_resolution_each"),
    comment="What an operator found out about one uncertain effect, and on which evidence.",
)

cancellations = Table(
    "cancellations",
    metadata,
    Column("operation_id", Text, ForeignKey(OPERATION_ID), primary_key=True),
    Column("actor", Text, nullable=False),
    _now("at"),
    comment="The callers' wishes that an operation stop; kept whether or not they came in time.",
)

claims = Table(
    "claims",
    metadata,
    Column("operation_id", Text, ForeignKey(OPERATION_ID), primary_key=True),
    Column("item", Text, primary_key=True, server_default=""),
    Column("intent_hash", Text, nullable=False),
    Column("idempotency_key", Text, nullable=False, unique=True),
    Column("owner", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("lease_until", DateTime(timezone=True), nullable=False),
    Column("sends", Integer, nullable=False, server_default="0"),
    Column("uncertain", Boolean, nullable=False, server_default=text("false")),
    _moment("first_sent_at"),
    _moment("last_sent_at"),
    Column("outcome", Text),
    Column("code", Text),
    Column("reference", Text),
    Column("data", Text),
    _moment("concluded_at"),
    comment="The right to make one effect: who holds it, in which generation, until when, and what came of it.",
)

OPEN_OR_LEFT_AT = "COALESCE(left_at, 'infinity'::timestamp with time zone)"
"""Until when at least something of a spending is of the day that begins then."""

spendings = Table(
    "spendings",
    metadata,
    Column("operation_id", Text, ForeignKey(OPERATION_ID), primary_key=True),
    Column("tenant", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("minor_units", Numeric(38, 0), nullable=False),
    _now("reserved_at"),
    _moment("released_at"),
    # When its operation ended, and its day began; a trigger writes it.
    _moment("left_at"),
    Index(
        "spendings_of_a_day",
        "tenant",
        "currency",
        text(f"({OPEN_OR_LEFT_AT})"),
        postgresql_include=["subject", "minor_units", "operation_id"],
        postgresql_where=text("released_at IS NULL"),
    ),
    comment="What an operation takes out of the day's totals; released when it is proven that nothing happened.",
)

hosted_calls = Table(
    "hosted_calls",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("delivery_key", Text, primary_key=True),
    Column("request_id", Text, nullable=False),
    Column("surface", Text, nullable=False),
    Column("item_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("server", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("failed", Boolean),
    Column("code", Text),
    Column("operation_id", Text, ForeignKey(OPERATION_ID)),
    _now("at"),
    Index("hosted_calls_by_operation", "operation_id", postgresql_where=text("operation_id IS NOT NULL")),
    Index("hosted_calls_at_fault", "at", postgresql_where=text("code IS NOT NULL")),
    comment="What providers have run themselves; code says what was wrong with it, operation_id what had allowed it.",
)

discoveries = Table(
    "discoveries",
    metadata,
    Column("lineage", Text, primary_key=True),
    Column("tool", Text, primary_key=True),
    _now("at"),
    comment="The tools that a search has brought up in a conversation.",
)

handler_calls = Table(
    "handler_calls",
    metadata,
    Column("entry", BigInteger, Identity(), primary_key=True),
    Column("operation_id", Text, ForeignKey(OPERATION_ID), nullable=False),
    Column("tool", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    _now("began_at"),
    _moment("ended_at"),
    Column("outcome", Text),
    Column("request_id", Text),
    Column("task_id", Text),
    Index("handler_calls_by_operation", "operation_id"),
    comment="Every time a tool's handler was called, written before the call.",
)

outbox = Table(
    "outbox",
    metadata,
    Column("message_id", BigInteger, Identity(), primary_key=True),
    Column("operation_id", Text, ForeignKey(OPERATION_ID), nullable=False),
    Column("kind", Text, nullable=False),
    Column("payload", JSONB, nullable=False),
    _now("created_at"),
    _now("due_at"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("failure", Text),
    _moment("sent_at"),
    _moment("set_aside_at"),
    Index("outbox_due", "due_at", postgresql_where=text("sent_at IS NULL AND set_aside_at IS NULL")),
    Index("outbox_by_operation", "operation_id"),
    Index("outbox_set_aside", "message_id", postgresql_where=text("set_aside_at IS NOT NULL")),
    comment="What must go out because of a change that is already committed.",
)

notices = Table(
    "notices",
    metadata,
    Column("message_id", BigInteger, ForeignKey("outbox.message_id"), primary_key=True),
    Column("receiver", Text, primary_key=True),
    _now("created_at"),
    _now("due_at"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("failure", Text),
    _moment("sent_at"),
    _moment("set_aside_at"),
    Index("notices_due", "receiver", "due_at", postgresql_where=text("sent_at IS NULL AND set_aside_at IS NULL")),
    Index("notices_set_aside", "message_id", postgresql_where=text("set_aside_at IS NOT NULL")),
    comment="What each receiver outside is to be told of an event, and whether it has taken it.",
)

events = Table(
    "events",
    metadata,
    Column("event_id", BigInteger, Identity(), primary_key=True),
    Column("tenant", Text, nullable=False),
    # None of what never became an operation.
    Column("operation_id", Text, ForeignKey(OPERATION_ID)),
    Column("actor", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("tool", Text),
    Column("resource", Text),
    Column("detail", JSONB, nullable=False, server_default=text("'{}'::jsonb")),
    _now("at"),
    Column("written_by", Text, server_default=text("SESSION_USER")),
    Column("place", BigInteger),
    Column("previous_hash", Text),
    Column("hash", Text),
    UniqueConstraint("tenant", "place", name="one_event_a_place"),
    Index("events_by_operation", "operation_id", "event_id"),
    Index("events_by_tenant", "tenant", "event_id"),
    Index("events_to_seal", "event_id", postgresql_where=text("place IS NULL")),
    comment="The audit log and the timeline of each operation: who did what, when; codes and ids only, "
    "one chain per tenant.",
)

audit_heads = Table(
    "audit_heads",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("place", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
    _now("sealed_at"),
    comment="The last line of each tenant's audit log that is sealed.",
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_id", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False, unique=True),
    Column("earlier_fingerprint", Text),
    Column("tenant", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("roles", ARRAY(Text), nullable=False),
    Column("locale", Text, nullable=False),
    Column("zone", Text, nullable=False),
    _now("created_at"),
    _now("seen_at"),
    _now("checked_at"),
    Column("ends_at", DateTime(timezone=True), nullable=False),
    _moment("ended_at"),
    Index(
        "sessions_by_earlier_fingerprint",
        "earlier_fingerprint",
        postgresql_where=text("earlier_fingerprint IS NOT NULL"),
    ),
    Index("sessions_of_a_person", "tenant", "subject", "created_at", postgresql_where=text("ended_at IS NULL")),
    Index("sessions_by_end", "ends_at"),
    comment="Who is signed in to the back office, until when; of the secret in their browser only the fingerprint.",
)
