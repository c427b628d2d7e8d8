import os
import subprocess
import sys
from pathlib import Path

import pytest

from worker.dev import credentials
from worker.dev.errors import StateFolderInUse, StateFolderUnwritable
from worker.dev.folder import LARGE_LOG, StateFolder
from worker.dev.layout import ROOT


def made(root: Path) -> StateFolder:
    folder = StateFolder(root)
    folder.make()
    return folder


def test_only_the_owner_may_look_inside(tmp_path: Path) -> None:
    made(tmp_path / "state")
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_what_is_remembered_is_recalled_by_the_owner_only(tmp_path: Path) -> None:
    made(tmp_path).remember("ports", {"api": 1})
    assert made(tmp_path).recall("ports") == {"api": 1}
    assert (tmp_path / "ports.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["", "{", "[]", "\x00"])
def test_a_damaged_record_counts_as_none(tmp_path: Path, damage: str) -> None:
    (tmp_path / "ports.json").write_text(damage)
    assert made(tmp_path).recall("ports") == {}


def test_a_folder_has_one_holder_at_a_time(tmp_path: Path) -> None:
    first, second = made(tmp_path), made(tmp_path)
    first.lock()
    with pytest.raises(StateFolderInUse, match=f"process {os.getpid()}"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateFolderUnwritable, match="Not a directory"):
        made(tmp_path / "file" / "state")


def test_a_large_log_is_set_aside_and_a_small_one_is_kept(tmp_path: Path) -> None:
    folder = made(tmp_path)
    folder.log("worker").write_text("small")
    with folder.log("api").open("wb") as log:
        log.truncate(LARGE_LOG + 1)
    folder.set_large_logs_aside()
    assert sorted(log.name for log in folder.logs.iterdir()) == ["api.log.old", "worker.log"]


def test_secrets_are_made_once_and_kept(tmp_path: Path) -> None:
    first = credentials.keep(made(tmp_path))
    assert set(first) == set(credentials.NAMES)
    assert len(set(first.values())) == len(first)
    assert credentials.keep(made(tmp_path)) == first


def test_a_secret_that_is_new_in_the_program_is_added_to_an_old_folder(tmp_path: Path) -> None:
    folder = made(tmp_path)
    folder.remember("credentials", {"postgres": "kept"})
    complete = credentials.keep(folder)
    assert complete["postgres"] == "kept"
    assert set(complete) == set(credentials.NAMES)


def test_an_old_python_gets_one_sentence() -> None:
    pretend = "import sys; sys.version_info = (3, 10, 0, 'final', 0); import worker.dev"
    done = subprocess.run([sys.executable, "-c", pretend], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "Onceward needs Python 3.11 or newer; this is 3.10.\n"


def test_setup_with_an_old_python_says_the_same() -> None:
    run = "runpy.run_path('.ci/bootstrap.py', run_name='__main__')"
    pretend = f"import runpy, sys; sys.version_info = (3, 10, 0, 'final', 0); {run}"
    done = subprocess.run([sys.executable, "-c", pretend], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "Onceward needs Python 3.11 or newer; this is 3.10: `make PYTHON=...` takes another.\n"
