"""Set up everything that the checkout needs: ``python3 .ci/bootstrap.py``, or `make setup`.

Needs Python and a network to a package index, nothing else: Debian leaves pip and ensurepip out of its python3, so the
environment is made without them and pip is fetched as a wheel. Written so that an old Python can still read it and say
that it is too old. Settings of pip (PIP_INDEX_URL, PIP_CERT and so on) are respected.

Whoever has an environment with pip already can do without this: ``pip install --group dev`` installs the same packages,
at the newest versions that pyproject.toml allows instead of those of uv.lock.
"""

import base64
import hashlib
import os
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "setup.stamp"

# The one index that is known when none was configured.
DEFAULT_INDEX = "https://pypi.org/simple"
PIP = "pip-26.3-py3-none-any.whl"
PIP_SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"
UV = "uv==0.13.9"


def main() -> int:
    """Exit code 0 when everything is there, 1 when a step failed, 2 when this Python is too old."""
    if sys.version_info < OLDEST:
        found = f"{sys.version_info[0]}.{sys.version_info[1]}"
        needs = "Onceward needs Python 3.11 or newer"
        print(f"{needs}; this is {found}: `make PYTHON=...` takes another.", file=sys.stderr)
        return 2
    wanted = place() + "\n" + contents()
    if is_set_up(wanted):
        return 0
    try:
        set_up()
    except (OSError, ValueError, subprocess.CalledProcessError) as failure:
        print(f"Setup failed: {failure}.", file=sys.stderr)
        return 1
    STAMP.write_text(wanted)
    print("Everything is set up in .venv.")
    return 0


def place() -> str:
    """For what the environment was made: its programs name the folder and the Python."""
    return f"{ROOT} with Python {sys.version_info[0]}.{sys.version_info[1]}"


def contents() -> str:
    """What is installed in it."""
    parts = (ROOT / "uv.lock", ROOT / "pyproject.toml", Path(__file__))
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()


def is_set_up(wanted: str) -> bool:
    """Whether an earlier run has left exactly this."""
    return STAMP.exists() and STAMP.read_text() == wanted and runs(PYTHON)


def set_up() -> None:
    """Environment, pip and uv in it, and then all packages at the versions of the lock file."""
    make_environment()
    if not runs(PYTHON, "-m", "uv"):
        install_uv()
    sync()


def make_environment() -> None:
    """Keep a good one; replace one that was made elsewhere, for another Python, or only in part."""
    elsewhere = STAMP.exists() and not STAMP.read_text().startswith(place() + "\n")
    if runs(PYTHON) and not elsewhere:
        return
    say("Making .venv")
    if VENV.is_symlink():
        # Whoever it belongs to keeps it: clearing would empty what the link points at.
        VENV.unlink()
    run(sys.executable, "-m", "venv", "--clear", "--without-pip", str(VENV))


def install_uv() -> None:
    """Install pip from its wheel by itself, and uv with it."""
    say("Fetching pip and uv")
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder) / PIP
        wheel.write_bytes(fetch_pip())
        run(str(PYTHON), str(wheel / "pip"), "install", "--quiet", "--no-warn-script-location", str(wheel), UV)


def fetch_pip() -> bytes:
    """The pinned wheel from the index. Raises ValueError when the index has none, or another file of that name."""
    index = os.environ.get("PIP_INDEX_URL", DEFAULT_INDEX).rstrip("/") + "/pip/"
    page = download(index).decode()
    links = [link for link in re.findall(r'href="([^"#]+)', page) if link.split("/")[-1] == PIP]
    if not links:
        raise ValueError(f"the package index {without_credentials(index)} has no {PIP}")
    wheel = download(urllib.parse.urljoin(index, links[0]))
    if hashlib.sha256(wheel).hexdigest() != PIP_SHA256:
        raise ValueError(f"{PIP} from {without_credentials(index)} is not the expected file")
    return wheel


def download(url: str) -> bytes:
    """GET with the certificates and the credentials that pip would use, from whatever index was configured."""
    request = urllib.request.Request(without_credentials(url), headers={"Accept": "text/html"})  # noqa: S310
    parts = urllib.parse.urlsplit(url)
    if parts.username:
        login = f"{urllib.parse.unquote(parts.username)}:{urllib.parse.unquote(parts.password or '')}"
        request.add_header("Authorization", "Basic " + base64.b64encode(login.encode()).decode())
    authorities = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or None)
    with urllib.request.urlopen(request, timeout=60, context=authorities) as answer:  # noqa: S310
        content = answer.read()
    return bytes(content)


def without_credentials(url: str) -> str:
    """The URL as it may be shown."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def sync() -> None:
    """Install what uv.lock says, with its hashes."""
    say("Installing the packages of uv.lock")
    uv = (str(PYTHON), "-m", "uv")
    if os.environ.get("PIP_INDEX_URL"):
        sync_from_another_index(uv)
    else:
        run(*uv, "sync", "--frozen", "--no-install-project", "--quiet", UV_PYTHON_DOWNLOADS="never")


def sync_from_another_index(uv: "tuple[str, ...]") -> None:
    """The lock file names the files of one index by URL; versions and hashes hold for every mirror."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "requirements.txt"
        run(*uv, "export", "--frozen", "--no-emit-project", "--quiet", "--output-file", str(wanted))
        run(str(PYTHON), "-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", str(wanted))


def runs(*command: "str | Path") -> bool:
    """Whether a program starts at all."""
    try:
        done = subprocess.run([*map(str, command), "--version"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def run(*command: str, **environment: str) -> None:
    """One step, whose output is shown."""
    subprocess.run(command, cwd=str(ROOT), check=True, env={**os.environ, **environment})


def say(what: str) -> None:
    """Progress: some of the steps take a while."""
    print(what + " ...", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
