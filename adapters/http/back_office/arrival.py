"""Forms that are here as a whole before anybody looks at who has sent them."""

from starlette.types import Message, Receive

LARGEST_BODY = 64 * 1024
"""Bytes of a form. Of a larger one the rest is not waited for, and whoever reads it refuses it."""


async def arrived(receive: Receive) -> Receive:
    """Wait until all of the body is here, or more than there may be; the same messages come again for the reader."""
    kept: list[Message] = []
    bytes_kept, more = 0, True
    while more and bytes_kept <= LARGEST_BODY:
        message = await receive()
        kept.append(message)
        bytes_kept += len(message.get("body", b""))
        more = message.get("more_body", False)
    waiting = iter(kept)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    return again
