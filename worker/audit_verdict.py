"""What a look at the audit log has found, in words and in figures."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from adapters.postgres.audit_chain import PostgresAuditChain, Unsealed
from adapters.postgres.audit_words import Discrepancy, PostgresAuditWords
from adapters.postgres.engine import Database
from worker.telling import BROKEN, SOUND, age, printable
from workflows.domain.audit import AuditLine, Checked

LATE_SECONDS = 60
"""A line that has waited longer to be sealed says that no relay runs."""


@dataclass(frozen=True)
class LogVerdict:
    """The chains that were looked at. `missing` are heads that were asked for and are nowhere.

    `altered` are operations on which a person's words are not those that the log tells of, and how.
    What waits to be sealed is known of a database only.
    """

    chains: tuple[Checked, ...] = ()
    unsealed: Unsealed | None = None
    missing: tuple[str, ...] = ()
    altered: tuple[Discrepancy, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """What does not hold, each in a few words."""
        broken = (f"audit log of {printable(chain.tenant)}: {chain.broken}" for chain in self.chains if chain.broken)
        missing = (f"no line of the audit log has the hash {printable(head)}" for head in self.missing)
        return (*broken, *missing, *map(_difference, self.altered))

    @property
    def length(self) -> int:
        """Lines of all chains."""
        return sum(chain.lines for chain in self.chains)

    @property
    def exit_code(self) -> int:
        """For whoever asked."""
        return BROKEN if self.faults else SOUND

    @property
    def sentence(self) -> str:
        """The verdict."""
        if self.faults:
            return f"audit verify: BROKEN: {'; '.join(self.faults)}"
        waiting = "" if self.unsealed is None else f", {self.unsealed.number} not sealed yet"
        return f"audit verify: sound, {len(self.chains)} chains, {self.length} lines{waiting}"

    def lines(self) -> Iterator[str]:
        """For a person; the verdict is the last one."""
        yield from map(chain_told, self.chains)
        yield from self.waiting()
        yield self.sentence

    def waiting(self) -> Iterator[str]:
        """What no relay has sealed yet, if there is anything."""
        if self.unsealed is not None and self.unsealed.number:
            late = "; does a relay run?" if self.unsealed.oldest_seconds > LATE_SECONDS else ""
            oldest = age(self.unsealed.oldest_seconds)
            yield f"{'':10}{self.unsealed.number} lines are not sealed yet, the oldest for {oldest}{late}"

    def figures(self) -> dict[str, Any]:
        """For a program: the same as JSON values."""
        unsealed = None if self.unsealed is None else asdict(self.unsealed)
        counts = {"chains": len(self.chains), "lines": self.length}
        return {**counts, "unsealed": unsealed, "faults": list(self.faults)}


async def looked_over(database: Database, tenant: str | None = None, heads: Collection[str] = ()) -> LogVerdict:
    """Look at every chain, or at one tenant's, and at what people said; raises as `snapshot` does."""
    chain = PostgresAuditChain(database)
    missing = set(heads)

    def watch(part: Sequence[AuditLine]) -> None:
        missing.difference_update(line.hash or "" for line in part)

    tenants = [tenant] if tenant is not None else await chain.tenants()
    chains = tuple([await chain.check(each, watch) for each in tenants])
    altered = await PostgresAuditWords(database).altered(tenant)
    return LogVerdict(chains, await chain.unsealed(), tuple(sorted(missing)), altered)


def _difference(found: Discrepancy) -> str:
    return f"what a person said on {found.operation_id} is not what the audit log knows of: {found.how}"


def chain_told(chain: Checked) -> str:
    """One chain in a line, with the head that is worth keeping elsewhere."""
    name, head = printable(chain.tenant), chain.head
    if chain.broken:
        return f"{'BROKEN':>8}  {name}: {chain.broken}"
    since = f" from line {chain.first} on" if chain.first > 1 else ""
    return f"{'ok':>8}  {name}: {chain.lines} lines{since}, head {head.hash} at line {head.place}"
