"""The headless Chromium of the browser tests: Playwright's own, else the system's.

Run as `python -m tests.browser.chromium` to make sure there is one; it downloads Playwright's, and
where that cannot be had installs the Debian package, if it may.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DOWNLOAD_TIMEOUT_S = 180

ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    # A camera that shows a test picture; whether it may be used is still asked.
    "--use-fake-device-for-media-stream",
)


def playwrights_own() -> bool:
    """Whether Playwright has downloaded its browser."""
    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path).exists()


def system_chromium() -> str | None:
    """The path of an installed Chromium or Chrome."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def launch_options() -> dict[str, object]:
    """Arguments for Playwright's `chromium.launch`."""
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    options: dict[str, object] = {"headless": True, "args": arguments}
    if not playwrights_own():
        options["executable_path"] = system_chromium()
    return options


def main() -> int:
    """Find or install a browser; 0 where there is one."""
    if system_chromium() or playwrights_own():
        return 0
    download = [sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"]
    try:
        if subprocess.run(download, timeout=DOWNLOAD_TIMEOUT_S, check=False).returncode == 0:
            return 0
    except subprocess.TimeoutExpired:
        print("Playwright's browser could not be downloaded in time", file=sys.stderr)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False)
    if system_chromium():
        return 0
    print(
        "The browser tests need Chromium: run `playwright install chromium`, or install your "
        "system's chromium package.",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
