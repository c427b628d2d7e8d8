"""What is collected of a run, as plain values: all that the checker sees. It can be kept as JSON and judged again."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One act as the run meant it, and the ids of all responses that held it."""

    call_id: str
    requests: tuple[str, ...]
    tenant: str
    tool: str
    grade: str
    target: str
    amount: int
    approvers: int
    """How many people have to say yes before it may happen."""
    allowed: bool = True
    items: tuple[str, ...] = ()
    """The accounts of a batch, each of which was to get the amount."""
    repeats: tuple[str, ...] = ()
    """Further call ids under which each of the responses asks for it again."""

    @property
    def calls(self) -> tuple[str, ...]:
        """Every call id under which a response asks for it."""
        return (self.call_id, *self.repeats)

    @property
    def objects(self) -> tuple[str, ...]:
        """What each effect of it would be on."""
        return self.items or (self.target,)

    @property
    def writes(self) -> bool:
        """Whether it should change anything."""
        return self.grade != "read"


@dataclass(frozen=True)
class Answer:
    """What one delivery came to. `status` None: no answer came. `told` is what the model reads, by call id."""

    how: str
    door: str
    request_id: str
    sent: float
    received: float
    status: int | None = None
    results: tuple[Row, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    """The call ids that were handed in."""


@dataclass(frozen=True)
class Said:
    """One person's word on one question; `status` None: nobody knows whether it was heard."""

    operation_id: str
    approval_id: str
    person: str
    choice: str
    status: int | None


@dataclass(frozen=True)
class Wish:
    """A caller's wish that an operation stop, and its answer; `status` None: no answer came."""

    operation_id: str
    call_id: str
    moment: str
    door: str
    sent: float
    received: float
    status: int | None = None
    told: Row = field(default_factory=dict)

    @property
    def code(self) -> str:
        """What the caller was told of the wish."""
        return str(self.told.get("cancellation", {}).get("code", ""))


@dataclass(frozen=True)
class Resolved:
    """An operator's word on an effect that nobody could find out; `status` None: nobody knows whether it was heard."""

    operation_id: str
    person: str
    finding: str
    reference: str
    status: int | None


@dataclass(frozen=True)
class Audit:
    """What `worker verify` said of the database at a moment of the run; `broken` names what does not hold."""

    moment: str
    exit_code: int
    sentence: str
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Everything. Acts of one response stand in the order of its calls.

    `tables` are plain rows by the table's name, `workflows` the closing status of each run by id, `faults` those that
    were injected by kind, `deaths` of processes that nobody had killed. `in_turns` is the part of the acts in responses
    with several writes, where it was asked for.
    """

    seed: int
    acts: tuple[Asked, ...]
    answers: tuple[Answer, ...] = ()
    said: tuple[Said, ...] = ()
    wishes: tuple[Wish, ...] = ()
    resolved: tuple[Resolved, ...] = ()
    audits: tuple[Audit, ...] = ()
    tables: Mapping[str, list[Row]] = field(default_factory=dict)
    workflows: Mapping[str, list[str]] = field(default_factory=dict)
    faults: Mapping[str, int] = field(default_factory=dict)
    deaths: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    collected: datetime | str | None = None
    """When, by the clock of this machine, which the services share."""
    in_turns: float | None = None

    def rows(self, table: str) -> list[Row]:
        """Of one table; none where it was not collected."""
        return self.tables.get(table, [])

    def keep(self, path: Path) -> None:
        """Write it down."""
        path.write_text(json.dumps(asdict(self), default=_plain))


def kept(path: Path) -> Evidence:
    """What `Evidence.keep` wrote."""
    found = json.loads(path.read_text())
    return Evidence(
        seed=found["seed"],
        acts=tuple(_asked(each) for each in found["acts"]),
        answers=tuple(
            Answer(**{**each, "results": tuple(each["results"]), "asked": tuple(each["asked"])})
            for each in found["answers"]
        ),
        said=tuple(Said(**each) for each in found["said"]),
        wishes=tuple(Wish(**each) for each in found["wishes"]),
        resolved=tuple(Resolved(**each) for each in found["resolved"]),
        audits=tuple(Audit(**{**each, "broken": tuple(each["broken"])}) for each in found["audits"]),
        tables=found["tables"],
        workflows=found["workflows"],
        faults=found["faults"],
        deaths=found["deaths"],
        seconds=found["seconds"],
        collected=found.get("collected"),
        in_turns=found.get("in_turns"),
    )


def _asked(each: Row) -> Asked:
    several: Row = {name: tuple(each[name]) for name in ("requests", "items", "repeats") if name in each}
    return Asked(**{**each, **several})


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"no plain form of {type(value).__name__}")
