"""The inventory's book: what is reserved, under whose reference, and which faults are asked for."""

import sqlite3
from contextlib import closing
from pathlib import Path

TABLES = """
CREATE TABLE IF NOT EXISTS reservations (
    number INTEGER PRIMARY KEY, sku TEXT NOT NULL, quantity INTEGER NOT NULL, reference TEXT NOT NULL, released INTEGER
);
CREATE TABLE IF NOT EXISTS faults (kind TEXT PRIMARY KEY);
"""


class Book:
    """One SQLite file; whoever opens it sees what every process before has done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as connection:
            connection.executescript(TABLES)

    def reserve(self, sku: str, quantity: int, reference: str) -> str:
        """Write a reservation down and return its number, such as rs-1. Twice is two of them: there is no key."""
        with self._open() as connection, connection:
            done = connection.execute(
                "INSERT INTO reservations (sku, quantity, reference) VALUES (?, ?, ?)", (sku, quantity, reference)
            )
            return f"rs-{done.lastrowid}"

    def find(self, reference: str) -> tuple[str, str, int] | None:
        """Number, article and quantity of the reservation with that reference."""
        with self._open() as connection:
            row = connection.execute(
                "SELECT number, sku, quantity FROM reservations WHERE reference = ? AND released IS NULL", (reference,)
            ).fetchone()
        return (f"rs-{row[0]}", row[1], row[2]) if row else None

    def release(self, reservation_id: str) -> bool:
        """Give a reservation back; whether there was one to give back."""
        with self._open() as connection, connection:
            done = connection.execute(
                "UPDATE reservations SET released = 1 WHERE number = ? AND released IS NULL",
                (reservation_id.removeprefix("rs-"),),
            )
            return done.rowcount == 1

    def count(self, sku: str) -> int:
        """How many reservations of an article were ever made."""
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM reservations WHERE sku = ?", (sku,)).fetchone()[0])

    def arm(self, fault: str) -> None:
        """Ask for a fault, once."""
        with self._open() as connection, connection:
            connection.execute("INSERT OR IGNORE INTO faults VALUES (?)", (fault,))

    def fault_is_due(self, fault: str) -> bool:
        """Whether the fault was asked for; it is not asked for any more then."""
        with self._open() as connection, connection:
            return connection.execute("DELETE FROM faults WHERE kind = ?", (fault,)).rowcount == 1

    def _open(self) -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(self._path, timeout=10))
