"""What a reader sees of a text.

A word that counts must be seen by whoever reads it later, and two identifiers that look the same must be the same.
"""

import unicodedata

BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that Unicode calls letters, marks or symbols and that leave no ink."""

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_hidden(char: str) -> bool:
    """Whether a reader would not see the character, or not know it from a plain space."""
    category = unicodedata.category(char)
    if category in HIDDEN_CATEGORIES or char in BLANK_LETTERS:
        return True
    return (category == "Zs" and char != " ") or _is_variation_selector(char)


def is_blank(text: str) -> bool:
    """Whether nothing of the text leaves ink, however long it is."""
    return all(char.isspace() or is_hidden(char) for char in text)


def is_plain(identifier: str) -> bool:
    """Whether all of an identifier is seen: no control, zero-width or bidi character, no space at either end."""
    return identifier == identifier.strip() and not any(map(is_hidden, identifier))


def _is_variation_selector(char: str) -> bool:
    return 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF or 0x180B <= ord(char) <= 0x180F
