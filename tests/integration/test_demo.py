"""`make demo` as a person starts it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from worker.dev.layout import ROOT

PATIENCE_SECONDS = 150
COMMAND = (sys.executable, "-m", "examples.demo")


def test_ctrl_c_ends_every_process_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with subprocess.Popen(
        COMMAND,
        cwd=ROOT,
        env=surroundings(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if line.startswith("1. "):
                break
        demo.send_signal(signal.SIGINT)
        rest = demo.stdout.read()
    assert demo.returncode == 130, rest
    assert rest.splitlines()[-1] == "Stopped; every process that was started has ended."
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []


def surroundings(folder: Path) -> dict[str, str]:
    """A temporary folder of its own, and a proxy that must not be asked."""
    return os.environ | {"TMPDIR": str(folder), "HTTP_PROXY": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9"}
