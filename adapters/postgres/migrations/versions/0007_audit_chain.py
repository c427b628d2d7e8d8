"""The audit log: lines without an operation, what each is about, and a chain over them that nobody can rewrite unseen.

Lines from before are chained like new ones, by the first relay that runs: doing it here would hold up every writer.

Revision ID: 0007
Revises: 0006
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TABLES = """
ALTER TABLE events
    ALTER COLUMN operation_id DROP NOT NULL,
    ADD COLUMN tool TEXT,
    ADD COLUMN resource TEXT,
    ADD COLUMN written_by TEXT,
    ADD COLUMN place BIGINT,
    ADD COLUMN previous_hash TEXT,
    ADD COLUMN hash TEXT;
-- Set afterwards, so that older lines do not say that the migration wrote them.
ALTER TABLE events ALTER COLUMN written_by SET DEFAULT session_user;
ALTER TABLE events ADD CONSTRAINT one_event_a_place UNIQUE (tenant, place);
CREATE INDEX events_by_tenant ON events (tenant, event_id);
CREATE INDEX events_to_seal ON events (event_id) WHERE place IS NULL;
COMMENT ON TABLE events IS
    'The audit log and the timeline of each operation: who did what, when; codes and ids only, one chain per tenant.';

CREATE TABLE audit_heads (
    tenant TEXT NOT NULL,
    place BIGINT NOT NULL,
    hash TEXT NOT NULL,
    sealed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (tenant)
);
COMMENT ON TABLE audit_heads IS 'The last line of each tenant''s audit log that is sealed.';
"""

GUARDS = """
CREATE FUNCTION keep_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE seal text[] := ARRAY['place', 'previous_hash', 'hash'];
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.place IS NULL AND OLD.hash IS NULL AND to_jsonb(NEW) - seal = to_jsonb(OLD) - seal THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a line of the audit log is sealed once, and otherwise neither changed nor removed'
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_events BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION keep_events();
CREATE TRIGGER keep_all_events BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION keep_events();

CREATE FUNCTION keep_audit_heads() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.tenant = OLD.tenant AND NEW.place > OLD.place THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a head of the audit log only moves on' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_audit_heads BEFORE UPDATE OR DELETE ON audit_heads
    FOR EACH ROW EXECUTE FUNCTION keep_audit_heads();
CREATE TRIGGER keep_all_audit_heads BEFORE TRUNCATE ON audit_heads
    FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_heads();
"""

RIGHTS = """
-- Whoever tells says neither when, nor in whose name the database wrote it, nor where it stands.
REVOKE INSERT ON events FROM onceward_door, onceward_worker;
GRANT INSERT (tenant, operation_id, actor, what, detail, tool, resource) ON events TO onceward_door, onceward_worker;

-- The relay seals what others have told, and can tell nothing itself.
GRANT SELECT ON events TO onceward_relay;
GRANT UPDATE (place, previous_hash, hash) ON events TO onceward_relay;
GRANT SELECT ON audit_heads TO onceward_door, onceward_worker, onceward_relay;
GRANT INSERT, UPDATE (place, hash, sealed_at) ON audit_heads TO onceward_relay;
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(GUARDS)
    op.execute(RIGHTS)


def downgrade() -> None:
    op.execute(
        "DROP TABLE audit_heads; DROP FUNCTION keep_audit_heads;"
        "DROP TRIGGER keep_events ON events; DROP TRIGGER keep_all_events ON events; DROP FUNCTION keep_events;"
        "REVOKE ALL ON events FROM onceward_relay; GRANT INSERT ON events TO onceward_door, onceward_worker;"
        "ALTER TABLE events DROP COLUMN tool, DROP COLUMN resource, DROP COLUMN written_by, DROP COLUMN place,"
        " DROP COLUMN previous_hash, DROP COLUMN hash"
    )
