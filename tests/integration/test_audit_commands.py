"""`python -m worker audit`, run as anybody would: it checks the log, writes it out, and checks what was written."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from adapters.postgres import rows
from adapters.postgres.audit_chain import PostgresAuditChain
from adapters.postgres.engine import UNANSWERED, Database
from adapters.postgres.sealing import PostgresSealing
from tests.integration.stack_probes import assert_one_sentence
from tests.support.books import unguarded
from tests.support.commands import told
from worker.audit_export import exported
from worker.audit_log import EMPTY_FILE
from worker.dev.layout import ROOT
from worker.dev.stack import Stack
from workflows.domain.audit import Checked

TENANTS = ("tenant-a", "tenant-b")


@dataclass
class Desk:
    """A log of two tenants, three lines each, and what is said of it."""

    stack: Stack
    owner: Database
    relay: Database

    async def begin_anew(self) -> None:
        await self.forge("TRUNCATE operations, audit_heads CASCADE")
        async with self.owner.transaction() as connection:
            for number in range(3):
                for tenant in TENANTS:
                    await rows.note(connection, tenant, "user-17", "proposal.refused", code="unknown_tool", at=number)
        await self.seal()

    async def seal(self) -> None:
        while await PostgresSealing(self.relay).seal():
            pass

    async def forge(self, statement: str) -> None:
        async with self.owner.transaction() as connection:
            await unguarded(connection, statement)

    async def said(self, *words: str, dsn: str = "") -> subprocess.CompletedProcess[str]:
        return await told(words, {"ONCEWARD_POSTGRES_DSN": dsn or self.stack.dsn("onceward_worker")})

    async def said_by_a_process(self, *words: str) -> subprocess.CompletedProcess[str]:
        """With that one setting and no other."""
        environment = {"ONCEWARD_POSTGRES_DSN": self.stack.dsn("onceward_worker"), "PATH": ""}
        command = [sys.executable, "-m", "worker", *words]
        run = partial(subprocess.run, command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        return await asyncio.to_thread(run)

    async def check(self, tenant: str) -> Checked:
        return await PostgresAuditChain(self.owner).check(tenant)


@pytest.fixture(scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """Tables that no other test writes in: the verdict is over all chains."""
    async with Stack(tmp_path_factory.mktemp("audit"), only={"postgres", "migrate"}, restart=False) as stack:
        yield stack


@pytest.fixture
async def desk(stack: Stack) -> AsyncIterator[Desk]:
    owner, relay = (Database(stack.dsn(f"onceward_{role}"), application_name="tests") for role in ("owner", "relay"))
    desk = Desk(stack, owner, relay)
    await desk.begin_anew()
    yield desk
    await owner.close()
    await relay.close()


def last(ended: subprocess.CompletedProcess[str]) -> str:
    return ended.stdout.splitlines()[-1]


async def test_a_sound_log_is_told_with_its_heads(desk: Desk) -> None:
    ended = await desk.said_by_a_process("audit", "verify")
    assert (ended.returncode, last(ended)) == (0, "audit verify: sound, 2 chains, 6 lines, 0 not sealed yet")
    for tenant in TENANTS:
        head = (await desk.check(tenant)).head
        assert f"{tenant}: 3 lines, head {head.hash} at line 3" in ended.stdout


async def test_a_changed_line_breaks_both_verdicts_and_is_named(desk: Desk) -> None:
    await desk.forge("UPDATE events SET actor = 'somebody' WHERE tenant = 'tenant-b' AND place = 2")
    fault = "audit log of tenant-b: line 2 is not as it was sealed"
    ended = await desk.said("audit", "verify")
    assert (ended.returncode, last(ended)) == (1, f"audit verify: BROKEN: {fault}")
    alone = await desk.said("audit", "verify", "--tenant", "tenant-a")
    assert (alone.returncode, last(alone)) == (0, "audit verify: sound, 1 chains, 3 lines, 0 not sealed yet")
    everything = await desk.said("verify")
    assert (everything.returncode, last(everything)) == (1, f"verify: BROKEN: {fault}")
    figures = json.loads((await desk.said("verify", "--json")).stdout)
    assert (figures["sound"], figures["audit_log"]["faults"]) == (False, [fault])


async def test_a_log_that_was_cut_back_with_its_head_is_found_by_a_head_that_was_kept(desk: Desk) -> None:
    kept = (await desk.check("tenant-a")).head.hash
    await desk.forge("DELETE FROM events WHERE tenant = 'tenant-a' AND place = 3")
    await desk.forge(
        "UPDATE audit_heads SET place = 2, hash = (SELECT hash FROM events WHERE tenant = 'tenant-a' AND place = 2)"
        " WHERE tenant = 'tenant-a'"
    )
    assert (await desk.said("audit", "verify")).returncode == 0
    ended = await desk.said("audit", "verify", "--head", kept)
    assert (ended.returncode, last(ended)) == (
        1,
        f"audit verify: BROKEN: no line of the audit log has the hash {kept}",
    )


async def test_a_chain_whose_head_was_removed_is_named_although_every_line_of_it_holds(desk: Desk) -> None:
    await desk.forge("DELETE FROM audit_heads WHERE tenant = 'tenant-b'")
    ended = await desk.said("audit", "verify")
    assert (ended.returncode, last(ended)) == (
        1,
        "audit verify: BROKEN: audit log of tenant-b: line 1 and those after it have no head: "
        "audit_heads has no row for this tenant",
    )


async def test_a_head_that_was_kept_is_found_in_a_log_that_has_grown(desk: Desk) -> None:
    kept = (await desk.check("tenant-a")).head.hash
    async with desk.owner.transaction() as connection:
        await rows.note(connection, "tenant-a", "user-17", "proposal.refused", code="unknown_tool")
    await desk.seal()
    assert (await desk.said("audit", "verify", "--head", kept)).returncode == 0


async def test_an_export_is_verified_without_a_database(desk: Desk, tmp_path: Path) -> None:
    written = await desk.said("audit", "export")
    assert written.returncode == 0
    assert len(written.stdout.splitlines()) == 6
    head = (await desk.check("tenant-a")).head.hash
    assert f"tenant-a: 3 lines, head {head} at line 3" in written.stderr
    file = tmp_path / "log.jsonl"
    file.write_text(written.stdout, encoding="utf-8")
    offline = ("audit", "verify", "--file", str(file))
    nowhere = "postgresql://nobody:hunter2@127.0.0.1:1/onceward"
    found = await desk.said(*offline, "--head", head, dsn=nowhere)
    assert (found.returncode, last(found)) == (0, "audit verify: sound, 2 chains, 6 lines")
    file.write_text(written.stdout.replace("user-17", "user-18", 1), encoding="utf-8")
    forged = await desk.said(*offline, dsn=nowhere)
    assert (forged.returncode, last(forged)) == (
        1,
        "audit verify: BROKEN: audit log of tenant-a: line 1 is not as it was sealed",
    )
    file.write_text("".join(written.stdout.splitlines(keepends=True)[:-4]), encoding="utf-8")
    cut = await desk.said(*offline, "--head", head, dsn=nowhere)
    assert (cut.returncode, last(cut)) == (1, f"audit verify: BROKEN: no line of the audit log has the hash {head}")


async def test_an_export_of_one_tenant_from_a_time_on_is_a_part_that_holds(desk: Desk) -> None:
    await desk.forge("UPDATE events SET at = '2026-03-01 12:00+00', hash = NULL, place = NULL, previous_hash = NULL")
    await desk.forge("TRUNCATE audit_heads")
    async with desk.owner.transaction() as connection:
        for number in range(2):
            await rows.note(connection, "tenant-a", "user-17", "proposal.refused", code="unknown_tool", at=number)
    await desk.seal()
    written = await desk.said("audit", "export", "--tenant", "tenant-a", "--since", "2026-03-02")
    assert [json.loads(text)["place"] for text in written.stdout.splitlines()] == [4, 5]
    assert "tenant-a: 2 lines from line 4 on" in written.stderr


async def test_an_export_of_a_broken_log_says_so(desk: Desk) -> None:
    await desk.forge("DELETE FROM events WHERE tenant = 'tenant-a' AND place = 2")
    written = await desk.said("audit", "export", "--tenant", "tenant-a")
    assert (written.returncode, len(written.stdout.splitlines())) == (1, 2)
    assert "tenant-a: line 2 is missing" in written.stderr


async def test_a_tenant_without_lines_exports_nothing(desk: Desk) -> None:
    said: list[str] = []
    found = await exported(PostgresAuditChain(desk.owner), "nobody", None, said.append, said.append)
    assert (found.lines, found.broken, said) == (0, None, [])


async def test_where_it_cannot_look_it_says_so_in_one_sentence(desk: Desk, tmp_path: Path) -> None:
    silent = await desk.said("audit", "verify", dsn="postgresql://nobody:hunter2@127.0.0.1:1/onceward")
    assert (silent.returncode, silent.stdout, silent.stderr.strip()) == (2, "", UNANSWERED)
    absent = await desk.said("audit", "verify", "--file", str(tmp_path / "absent.jsonl"))
    assert (absent.returncode, absent.stdout) == (2, "")
    assert_one_sentence(absent.stderr.strip())


async def test_an_export_with_nothing_in_it_is_not_sound(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("", encoding="utf-8")
    empty = await desk.said("audit", "verify", "--file", str(file))
    assert (empty.returncode, empty.stdout, empty.stderr.strip()) == (2, "", EMPTY_FILE)
    assert_one_sentence(empty.stderr.strip())
    file.write_text((await desk.said("audit", "export", "--tenant", "tenant-a")).stdout, encoding="utf-8")
    others = await desk.said("audit", "verify", "--file", str(file), "--tenant", "tenant-b")
    assert (others.returncode, others.stdout, others.stderr.strip()) == (2, "", EMPTY_FILE)


async def test_a_command_that_there_is_not_is_refused_with_those_that_there_are(desk: Desk) -> None:
    ended = await desk.said("audit")
    assert ended.returncode == 2
    assert "verify|export" in ended.stderr
