"""What is shipped: the client alone, under a name that nobody else uses."""

import subprocess
import sys
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from worker.dev.layout import ROOT

OUR_FOLDERS = ("workflows", "activities", "adapters", "worker")

PATIENCE_SECONDS = 120
"""Building and installing each fetch packages, from a cache at best."""


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as a release is, in isolation."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def clean_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with nothing in it but the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", wheel)
    return python


def test_the_wheel_holds_the_client_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    folders = {name.split("/")[0] for name in names}
    assert folders == {"onceward", next(name for name in folders if name.endswith(".dist-info"))}
    sources = {path.name for path in (ROOT / "adapters" / "client").iterdir() if path.is_file()}
    assert {name for name in names if name.startswith("onceward/")} == {f"onceward/{name}" for name in sources}


def test_the_client_is_imported_where_nothing_else_of_ours_is(clean_python: Path, tmp_path: Path) -> None:
    said = run(clean_python, "-I", "-c", "import onceward; print(onceward.__file__, *onceward.__all__)", cwd=tmp_path)
    assert said.startswith(str(clean_python.parent.parent))
    assert "Onceward" in said.split()
    for name in OUR_FOLDERS:
        look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is not None)"
        run(clean_python, "-I", "-c", look, cwd=tmp_path)


def test_the_client_needs_one_package(clean_python: Path) -> None:
    look = "from importlib.metadata import requires; print(*requires('onceward'), sep='\\n')"
    assert [line.split(">")[0].split("<")[0] for line in run(clean_python, "-I", "-c", look).splitlines()] == ["httpx2"]


def test_no_installed_package_uses_the_names_of_our_folders() -> None:
    taken = packages_distributions()
    assert {name: taken[name] for name in OUR_FOLDERS if name in taken} == {}
