"""Pages that lead a browser on by themselves."""

AT_ONCE = "0; url="
"""How a page begins its `Refresh` that a browser leaves again as soon as it is there."""
