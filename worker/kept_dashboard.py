"""Each tenant's dashboard, kept for a while, so that reloading the page does not read the tables again."""

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from adapters.http.back_office.dashboard_ports import Dashboard, Overview, Span
from worker.kept import PATIENCE_SECONDS, Kept
from workflows.domain.principal import Principal

MOST_KEPT = 64
"""Dashboards at a time; the one that was asked for the longest ago gives way."""


class KeptDashboard:
    """Fits `adapters.http.back_office.dashboard_ports.Dashboard`, over one that reads each time."""

    def __init__(
        self,
        dashboard: Dashboard,
        *,
        clock: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._dashboard, self._clock, self._patience = dashboard, clock, patience
        self._kept: OrderedDict[tuple[str, Span], Kept[Overview | None]] = OrderedDict()

    async def overview(self, viewer: Principal, span: Span) -> Overview | None:
        """The last that was read for this tenant; None while the first reading goes on."""
        aged = await self._of(viewer, span).latest()
        return None if aged is None else aged.value

    def _of(self, viewer: Principal, span: Span) -> Kept[Overview | None]:
        key = (viewer.tenant, span)
        if key not in self._kept:
            read = partial(self._dashboard.overview, Principal(viewer.tenant, "", frozenset()), span)
            self._kept[key] = Kept(read, clock=self._clock, patience=self._patience)
        self._kept.move_to_end(key)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]
