"""The Python client of Onceward: hand over a model's response, append what comes back.

::

    async with Onceward("https://onceward.example", token) as door:
        response = await model.messages.create(..., tools=await door.tools("anthropic-messages"))
        turn = await door.until_complete("anthropic-messages", response)
        conversation += turn.append
"""

from .answers import Cancellation, Offer, Operation, Result, Turn
from .door import Onceward, WaitFor
from .errors import OncewardError

__all__ = ["Cancellation", "Offer", "Onceward", "OncewardError", "Operation", "Result", "Turn", "WaitFor"]
