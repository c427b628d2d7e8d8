"""What a door has found out about a message before anybody of the message's protocol sees it."""

from dataclasses import dataclass
from typing import Any, Final

from workflows.domain.principal import Principal

ARRIVAL: Final = "onceward.arrival"
"""Where a request carries its `Arrival`, in the scope that the server gives it."""


@dataclass(frozen=True)
class Arrival:
    """A message, and who sent it. `message` is what the body says, read strictly: no number has become a float."""

    principal: Principal
    message: Any
