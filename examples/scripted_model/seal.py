"""What a provider adds to its model's words and must get back unchanged: signatures, encrypted reasoning."""

from base64 import b64encode
from hashlib import sha256


def seal(subject: str) -> str:
    """A seal on something, in base64 with the two characters in which its alphabets differ."""
    return b64encode(b"\xfb\xff" + sha256(subject.encode()).digest()).decode()


def is_seal(text: object, subject: str) -> bool:
    """Whether this is that seal, in whichever alphabet a package has written it."""
    return str(text).replace("-", "+").replace("_", "/").rstrip("=") == seal(subject).rstrip("=")
