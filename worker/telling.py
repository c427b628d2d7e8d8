"""How commands tell what they have found: exit codes, ages, and names that came from outside."""

SOUND, BROKEN, CANNOT_LOOK = 0, 1, 2
"""Exit codes. What is stuck breaks nothing."""

UNITS = ((24 * 3600, "d"), (3600, "h"), (60, "min"))


def age(seconds: float) -> str:
    """A duration in its largest whole unit, such as `3 d`; below a minute in seconds."""
    return next((f"{int(seconds // size)} {unit}" for size, unit in UNITS if seconds >= size), f"{int(seconds)} s")


def printable(text: str) -> str:
    """The text with a question mark for whatever a terminal might take as an order."""
    return "".join(character if character.isprintable() else "?" for character in text)
