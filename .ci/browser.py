"""Find or get the browser that the browser tests drive, and print its path: `make setup-browser`.

Looked for in this order: the file that CHROMIUM names, Chromium or Chrome of the system, the one that Playwright keeps.
When there is none it is installed: with apt-get where we may, otherwise by Playwright.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
# Without a font the browser shows boxes; without libatomic the driver of Playwright does not start.
PACKAGES = ("chromium", "fonts-dejavu-core", "libatomic1")


def main() -> int:
    """Exit code 0 with the path on standard output, or 1 with a sentence on standard error."""
    browser = find() or (install() and find())
    if not browser:
        print(
            f"No browser for the browser tests: install it (as root: `apt-get install {' '.join(PACKAGES)}`), "
            "or set CHROMIUM to the path of a Chromium or Chrome that runs here.",
            file=sys.stderr,
        )
        return 1
    print(browser)
    return 0


def find() -> str | None:
    """The first candidate that starts. Some systems have a stub of the right name that only tells to install it."""
    if not starts(sys.executable, "-m", "playwright"):
        return None
    return next((browser for browser in candidates() if starts(browser)), None)


def candidates() -> Iterator[str]:
    """Where a browser may be."""
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        yield chosen
        return
    yield from filter(None, map(shutil.which, NAMES))
    yield from kept_by_playwright()


def kept_by_playwright() -> Iterator[str]:
    """Playwright's own download, which needs libraries that a bare system may lack."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    if path.exists():
        yield str(path)


def starts(*program: str) -> bool:
    """Whether it can be run here."""
    try:
        return subprocess.run([*program, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def install() -> bool:
    """Get one; whether that went well."""
    if os.environ.get("CHROMIUM"):
        # Somebody has chosen a browser: another one in its place would be a surprise.
        return False
    return install_package() or install_download()


def install_package() -> bool:
    """From the system's own packages, which bring all libraries."""
    before = as_root()
    if shutil.which("apt-get") is None or before is None:
        return False
    return run(*before, "apt-get", "update", "--quiet") and run(
        *before, "apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *PACKAGES
    )


def as_root() -> list[str] | None:
    """What to put before a command that only root may run; None when that is not possible without a password."""
    if os.geteuid() == 0:
        return ["env", "DEBIAN_FRONTEND=noninteractive"]
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "--non-interactive", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "--non-interactive", "env", "DEBIAN_FRONTEND=noninteractive"]
    return None


def install_download() -> bool:
    """The one that Playwright fetches for itself."""
    return run(sys.executable, "-m", "playwright", "install", "chromium")


def run(*command: str) -> bool:
    """One step; its output goes to standard error, because standard output is the path."""
    print("$ " + " ".join(command), file=sys.stderr, flush=True)
    return subprocess.run(command, stdout=sys.stderr, check=False).returncode == 0


if __name__ == "__main__":
    raise SystemExit(main())
