"""What a model is told of a success: never more than the contract lets, and always where it comes from.

Data are data: nothing in them is read as an instruction, an id or a state by anybody here.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters import strict_json
from workflows.domain.contract import Contract

SHORT_VALUE = 512
"""Bytes of JSON; a value of this length survives the cut of a result that is too large."""


def told(data: Any, contract: Contract, operation_id: str, now: datetime) -> tuple[Any, dict[str, Any]]:
    """The data as they fit, and what must be known of them: origin, trust, freshness, what was cut, where it is."""
    about: dict[str, Any] = {"origin": contract.name, "trust": contract.trust.value}
    if isinstance(data, Mapping):
        about |= _freshness(data, contract.fresh_seconds, now)
    if _size(data) <= contract.largest_result:
        return data, about
    kept, returned = _cut(data, contract.largest_result)
    return kept, about | {"truncated": True, "returned": returned, "reference": f"/v1/operations/{operation_id}"}


def _freshness(data: Mapping[str, Any], fresh_seconds: float | None, now: datetime) -> dict[str, Any]:
    observed_at = _moment(data.get("observed_at"))
    if fresh_seconds is None or observed_at is None:
        return {}
    age = max(0.0, (now - observed_at).total_seconds())
    return {"observed_at": data["observed_at"], "age_seconds": round(age, 1), "stale": age > fresh_seconds}


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None


def _cut(data: Any, largest: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Short values whole, then as many items of each list as still fit; the rest is left out by name."""
    if not isinstance(data, Mapping):
        return {}, {}
    kept = {name: value for name, value in data.items() if _size(value) <= SHORT_VALUE}
    returned: dict[str, Any] = {}
    for name, value in data.items():
        if name not in kept:
            items = _items_that_fit(value, largest - _size(kept)) if isinstance(value, list) else []
            kept |= {name: items} if items else {}
            returned[name] = {"items": len(items), "of": len(value)} if isinstance(value, list) else "left out"
    return kept, returned


def _items_that_fit(items: list[Any], room: int) -> list[Any]:
    fitting: list[Any] = []
    for item in items:
        room -= _size(item) + 1
        if room < 0:
            break
        fitting.append(item)
    return fitting


def _size(value: Any) -> int:
    return len(strict_json.dump(value).encode())
