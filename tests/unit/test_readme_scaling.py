"""Every command of the README's section on scaling is run by a test, or says what it needs."""

from backend.settings import repository
from tests.readme import commands

RUN_BY = {
    "launch.py": "tests/browser: the app of all its tests",
    "launch.py --topology remote --vision-url http://127.0.0.1:8000 "
    "--language-url http://127.0.0.1:8001": "tests/browser/test_remote_page.py",
    "launch.py engine-args --topology remote --vision-url http://127.0.0.1:8000 "
    "--language-url http://127.0.0.1:8001": "tests/browser/test_remote_page.py",
    "launch.py --topology remote --vision-url http://127.0.0.1:8000,http://127.0.0.1:8002 "
    "--language-url http://127.0.0.1:8001": "tests/engine/test_remote.py",
}
NEEDS = {
    "launch.py --model qwen2_5_vl --vision-devices 0 --language-devices 1": "two NVIDIA GPUs",
}


def test_every_command_is_accounted_for() -> None:
    written = {" ".join(words) for words in commands("Scaling")}
    assert written == RUN_BY.keys() | NEEDS.keys()
    text = (repository() / "README.md").read_text("utf-8")
    for hardware in NEEDS.values():
        assert f"(needs {hardware})" in text
