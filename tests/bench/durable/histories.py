"""What one operation leaves in Temporal: events, bytes, and billable actions by the documented rules.

The actions are derived from the list of events, not metered: a start, an activity's attempt, a signal or update, a
timer and an upsert of search attributes are one each, and all local activities that one workflow task carries are one
together (https://docs.temporal.io/evaluate/cloud/actions). Heartbeats are actions too, leave no event, and are not
counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

ONE_EACH: Final = frozenset(
    {
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
        EventType.EVENT_TYPE_TIMER_STARTED,
        EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
    }
)
LOCAL_ACTIVITY: Final = "core_local_activity"
"""The marker that the SDK records a local activity under."""


@dataclass(frozen=True)
class Trail:
    """Medians over some operations."""

    events: float
    bytes: float
    actions: float


async def trail(client: Client, workflows: Sequence[str]) -> Trail | None:
    """Of these workflows; None when there are none."""
    if not workflows:
        return None
    found = [await _one(client, each) for each in workflows]
    return Trail(*(float(median(values)) for values in zip(*found, strict=True)))


async def _one(client: Client, workflow: str) -> tuple[int, int, int]:
    handle = client.get_workflow_handle(workflow)
    events = [event async for event in handle.fetch_history_events()]
    described = await handle.describe()
    size = described.raw_description.workflow_execution_info.history_size_bytes
    return len(events), size, actions(events)


def actions(events: Iterable[Any]) -> int:
    """Billable actions of one history, derived from its events."""
    counted, tasks_with_local_activities = 0, set[int]()
    for event in events:
        if event.event_type in ONE_EACH:
            counted += 1
        elif event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            # Attempts that failed leave no event of their own; the last one says how many there were.
            counted += event.activity_task_started_event_attributes.attempt
        elif event.event_type == EventType.EVENT_TYPE_MARKER_RECORDED:
            marker = event.marker_recorded_event_attributes
            if marker.marker_name == LOCAL_ACTIVITY:
                tasks_with_local_activities.add(marker.workflow_task_completed_event_id)
    return counted + len(tasks_with_local_activities)
