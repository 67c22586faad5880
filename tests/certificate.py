"""A certificate that nobody trusts."""

import shutil
import subprocess
from pathlib import Path


def can_make() -> bool:
    """Whether the program is here that makes one."""
    return shutil.which("openssl") is not None


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, and its key, as PEM files."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 "
        f"-addext subjectAltName=IP:127.0.0.1 -keyout {key} -out {certificate}"
    )
    subprocess.run(command.split(), check=True, capture_output=True, timeout=60)
    return certificate, key
