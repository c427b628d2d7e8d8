"""`python -m worker.mcp`: the tools of a running door for an MCP host that starts its servers itself, over stdio.

Standard output belongs to the protocol from the first line on: it is taken away before anything is imported, and
whatever a library, a warning or a child process prints ends on standard error.
"""

import os
import sys
from typing import BinaryIO


def taken_output() -> BinaryIO:
    """Standard output as the protocol's alone; no child inherits it, and what is printed from now on goes elsewhere."""
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return channel


def main() -> None:
    """Carry messages until the host closes standard input."""
    # Whoever asks for help is no host.
    channel = taken_output() if len(sys.argv) == 1 else sys.stdout.buffer
    from worker.mcp_stdio import run

    run(channel)


if __name__ == "__main__":
    main()
