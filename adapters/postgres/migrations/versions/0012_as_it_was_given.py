"""The database itself says who wrote a line of the audit log and when, and keeps people's words as they were given.

Revision ID: 0012
Revises: 0011
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

STAMP = """
-- The rights keep processes from naming either; this keeps the tables' owner from it too.
CREATE FUNCTION stamp_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.written_by := session_user;
    NEW.at := now();
    RETURN NEW;
END $$;
CREATE TRIGGER stamp_events BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION stamp_events();
"""

GUARDS = """
CREATE FUNCTION keep_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what a person has said is neither changed nor removed' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_decisions BEFORE UPDATE OR DELETE ON decisions FOR EACH ROW EXECUTE FUNCTION keep_words();
CREATE TRIGGER keep_all_decisions BEFORE TRUNCATE ON decisions FOR EACH STATEMENT EXECUTE FUNCTION keep_words();
CREATE TRIGGER keep_resolutions BEFORE UPDATE OR DELETE ON resolutions FOR EACH ROW EXECUTE FUNCTION keep_words();
CREATE TRIGGER keep_all_resolutions BEFORE TRUNCATE ON resolutions FOR EACH STATEMENT EXECUTE FUNCTION keep_words();
"""


def upgrade() -> None:
    op.execute(STAMP)
    op.execute(GUARDS)


def downgrade() -> None:
    op.execute(
        "DROP TRIGGER keep_decisions ON decisions; DROP TRIGGER keep_all_decisions ON decisions;"
        "DROP TRIGGER keep_resolutions ON resolutions; DROP TRIGGER keep_all_resolutions ON resolutions;"
        "DROP FUNCTION keep_words; DROP TRIGGER stamp_events ON events; DROP FUNCTION stamp_events"
    )
