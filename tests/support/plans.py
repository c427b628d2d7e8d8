"""How PostgreSQL finds what is asked for: the plans of the statements that a piece of work sends."""

from collections.abc import Awaitable, Callable, Collection, Iterator
from typing import Any

from sqlalchemy import event

from adapters.postgres.engine import Database


class TakenBack(Exception):
    """What was explained is not kept."""


async def statements_of(database: Database, look: Callable[[], Awaitable[object]]) -> list[tuple[str, Any]]:
    """What a look asks the database, with its values."""
    asked: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        asked.append((statement, parameters))

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        await look()
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)
    return asked


async def rows_read(database: Database, statement: str, parameters: Any, *, of: Collection[str]) -> float:
    """How many rows of these tables a statement reads, those that it then leaves out included; it changes nothing."""
    plan = await _plan(database, f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}", parameters)
    return sum(_rows_at(node) for node in _nodes(plan) if node.get("Relation Name") in of)


async def read_through(database: Database, statement: str, parameters: Any) -> set[str]:
    """The tables that a statement would read from their beginning to their end."""
    plan = await _plan(database, f"EXPLAIN (FORMAT JSON) {statement}", parameters)
    return {node["Relation Name"] for node in _nodes(plan) if node["Node Type"] == "Seq Scan"}


async def _plan(database: Database, statement: str, parameters: Any) -> dict[str, Any]:
    found: list[Any] = []
    try:
        async with database.transaction() as connection:
            found = (await connection.exec_driver_sql(statement, parameters)).scalar_one()
            raise TakenBack
    except TakenBack:
        plan: dict[str, Any] = found[0]["Plan"]
        return plan


def _rows_at(node: dict[str, Any]) -> float:
    left_out = [float(number) for name, number in node.items() if name.startswith("Rows Removed by")]
    return (float(node["Actual Rows"]) + sum(left_out)) * float(node["Actual Loops"])


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)
