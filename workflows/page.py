"""What the console shows of one operation: the attributes that it is found by, and words."""

from datetime import datetime

from temporalio import workflow

from workflows.attributes import STATE, WAITING_FOR, WAITING_SINCE

NOTHING = "nothing"
"""What an operation waits for that is at work or has ended."""


class Page:
    """The page of one run. A wait keeps its beginning however often it is looked at, in a new history too."""

    def __init__(self) -> None:
        before = workflow.info().typed_search_attributes
        self._carried = (before.get(WAITING_FOR), before.get(WAITING_SINCE))
        self._marked = ("", "")
        self._since = workflow.now()

    @property
    def since(self) -> datetime:
        """When it was marked as what it is marked as now."""
        return self._since

    @property
    def is_marked(self) -> bool:
        """Whether this run, or one whose history it goes on with, has been marked."""
        return self._marked != ("", "") or any(self._carried)

    def say(self, words: str) -> None:
        """Show these words, in the place of the last ones."""
        workflow.set_current_details(words)

    def mark(self, state: str, waiting_for: str) -> None:
        """Be found by this state, and by what is waited for since now; what is so marked already stays as it is."""
        if self._marked == (state, waiting_for):
            return
        self._marked = (state, waiting_for)
        self._since = self._beginning(waiting_for)
        waits = waiting_for != NOTHING
        workflow.upsert_search_attributes(
            [
                STATE.value_set(state),
                WAITING_FOR.value_set(waiting_for),
                WAITING_SINCE.value_set(self._since) if waits else WAITING_SINCE.value_unset(),
            ]
        )

    def _beginning(self, waiting_for: str) -> datetime:
        """Of a wait that an earlier history began, the moment when that was."""
        if waiting_for == NOTHING:
            return workflow.now()
        (before, since), self._carried = self._carried, (None, None)
        return since if since and before == waiting_for else workflow.now()
