"""The inventory as an MCP server, over stdio or, with `--port`, over Streamable HTTP.

    INVENTORY_BOOK=/tmp/book.db python examples/inventory/server.py [--port 8100]

Faults to try things on, each once, asked for in its book: `die_after_reserving`, `hang_after_reserving`.
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.inventory.book import Book

server = MCPServer("inventory")
book = Book(Path(os.environ["INVENTORY_BOOK"]))


class Reservation(BaseModel):
    """What was reserved."""

    reservation_id: str
    sku: str
    quantity: int


class Found(BaseModel):
    """Whether there is such a reservation, and which."""

    found: bool
    reservation_id: str | None = None
    sku: str | None = None
    quantity: int | None = None


class Sum(BaseModel):
    """What two numbers come to."""

    sum: int


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two numbers. It changes nothing."""
    return Sum(sum=a + b)


@server.tool()
def reserve_stock(sku: str, quantity: int, reference: str) -> Reservation:
    """Reserve stock of one article. The reference is the caller's own and is found again with find_reservation."""
    if quantity < 1:
        raise ToolError("The quantity is less than one.")
    reservation_id = book.reserve(sku, quantity, reference)
    if book.fault_is_due("die_after_reserving"):
        os.kill(os.getpid(), signal.SIGKILL)
    if book.fault_is_due("hang_after_reserving"):
        time.sleep(3600)
    return Reservation(reservation_id=reservation_id, sku=sku, quantity=quantity)


@server.tool()
def find_reservation(reference: str) -> Found:
    """Find the open reservation that carries a reference. It changes nothing."""
    row = book.find(reference)
    return Found(found=False) if row is None else Found(found=True, reservation_id=row[0], sku=row[1], quantity=row[2])


@server.tool()
def release_stock(reservation_id: str) -> Reservation:
    """Give a reservation back."""
    if not book.release(reservation_id):
        raise ToolError("There is no such open reservation.")
    return Reservation(reservation_id=reservation_id, sku="", quantity=0)


def main() -> None:
    """Serve until told to end."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("--port", type=int, help="listen there instead of on standard input")
    port = command.parse_args().port
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
