"""What clients need that talk to our own servers alone, over plain HTTP."""

import ssl

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Without it every client reads the certificates of all authorities first, which takes longer than most tests."""
