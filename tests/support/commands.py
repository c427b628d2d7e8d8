"""`python -m worker …` for commands that tell something and end, without the second that a process takes to start."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from subprocess import CompletedProcess
from unittest.mock import patch

from worker.__main__ import command_line


async def told(words: tuple[str, ...], environment: Mapping[str, str]) -> CompletedProcess[str]:
    """What the command writes and its exit code, with these settings and no others."""
    return await asyncio.to_thread(_told, words, environment)


def _told(words: tuple[str, ...], environment: Mapping[str, str]) -> CompletedProcess[str]:
    written, complained = StringIO(), StringIO()
    with patch.dict(os.environ, environment, clear=True), redirect_stdout(written), redirect_stderr(complained):
        code = _exit_code(words)
    return CompletedProcess(words, code, written.getvalue(), complained.getvalue())


def _exit_code(words: tuple[str, ...]) -> int:
    try:
        asked = command_line().parse_args(words)
        asked.run(asked)
    except SystemExit as end:
        return int(end.code or 0)
    return 0
