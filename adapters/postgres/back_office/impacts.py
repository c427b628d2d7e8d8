"""Impacts as they are kept with a question, whole or as much of them as a line shows."""

from typing import Any

from sqlalchemy import literal_column
from sqlalchemy.dialects.postgresql import JSONB

from workflows.domain.impact import Fact, Impact, Item, Money, Resource

IN_SHORT = literal_column("approvals.impact - 'facts' - 'items'", type_=JSONB).label("impact")
"""An impact without what a line does not show: a batch has thousands of items."""


def impact_from(value: Any) -> Impact:
    """An impact from its JSON column, or from as much of it as was read."""
    return Impact(
        resource=Resource(**value["resource"]),
        action=value["action"],
        money=money_from(value["money"]),
        count=value["count"],
        reversible=value["reversible"],
        facts=tuple(
            Fact(fact["label"], fact["value"], money_from(fact.get("money"))) for fact in value.get("facts", ())
        ),
        items=tuple(Item(**item) for item in value.get("items", ())),
    )


def money_from(value: Any) -> Money | None:
    """An amount from its JSON, None when there is none."""
    return None if value is None else Money(**value)
