"""The door for MCP hosts, put together: the same catalog, inbox and rights as every other door."""

from dataclasses import replace

from adapters.envelopes import mcp
from adapters.http.doors import LONGEST_BODY
from adapters.intake.cancels import Cancels
from adapters.intake.offers import Offers
from adapters.intake.ports import Inbox, Starter
from adapters.intake.retelling import Retelling
from adapters.intake.room import Room
from adapters.intake.searches import Searches
from adapters.intake.turns import Turns
from adapters.intake.watch import Watch
from adapters.mcp.server.endpoint import Endpoint
from adapters.mcp.server.listing import ToolList
from adapters.mcp.server.server import McpServer
from worker import wiring
from worker.settings import ToolSettings
from workflows.domain.catalog import Catalog


def endpoint(
    settings: ToolSettings,
    catalog: Catalog,
    inbox: Inbox,
    starter: Starter,
    watch: Watch,
    cancels: Cancels,
    room: Room,
    version: str,
) -> Endpoint:
    """What speaks MCP, for a door that has looked at who calls."""
    # A host is given every tool that its user may have, and finds the few that fit by itself.
    whole = Catalog([replace(each, deferred=False) for each in catalog.all()], wiring.authorizer(settings))
    surfaces = {mcp.SURFACE: mcp}
    offers = Offers(surfaces, whole, strict=False)
    searches = Searches(whole, offers)
    turns = Turns(surfaces, whole, inbox, starter, watch, offers=offers, searches=searches, room=room)
    retelling = Retelling(mcp, whole, watch)
    server = McpServer(mcp.SURFACE, turns, retelling, cancels, ToolList(whole, offers, mcp.SURFACE))
    return Endpoint(server.protocol(version), LONGEST_BODY)
