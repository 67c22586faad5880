"""The install step's repair, on a package folder of our own; the real one is not touched."""

import importlib.metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend import repair


@pytest.fixture
def extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A torchvision that does not import."""
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "extension.py").write_text("import torch\n")
    monkeypatch.setattr(repair, "installed_file", lambda module: package / "__init__.py")
    monkeypatch.setattr(repair, "imports", lambda module: False)
    return package / "extension.py"


def test_the_declaration_is_appended(extension: Path) -> None:
    repair.declare_operators()
    text = extension.read_text()
    assert text.startswith("import torch\n")
    assert '"nms", "qnms"' in text


def test_running_it_again_changes_nothing(extension: Path) -> None:
    repair.declare_operators()
    once = extension.read_text()
    repair.declare_operators()
    assert extension.read_text() == once
    assert once.count(repair.MARK) == 1


def test_a_torchvision_that_imports_is_left_alone(
    extension: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair, "imports", lambda module: True)
    repair.declare_operators()
    assert extension.read_text() == "import torch\n"


def test_a_torchvision_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repair, "installed_file", lambda module: None)
    repair.declare_operators()


@pytest.mark.parametrize(("has_library", "declared"), [(False, ["nms", "qnms"]), (True, [])])
def test_what_is_appended_declares_two_operators(has_library: bool, declared: list[str]) -> None:
    """Where the compiled library is there, declaring them again would be an error."""
    seen: list[str] = []

    class Library:
        def __init__(self, name: str, kind: str) -> None:
            assert (name, kind) == ("torchvision", "DEF")

        def define(self, schema: str) -> None:
            seen.append(schema)

    torch = SimpleNamespace(library=SimpleNamespace(Library=Library))
    exec(repair.DECLARATION, {"torch": torch, "_has_ops": lambda: has_library})
    rest = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
    assert seen == [name + rest for name in declared]


class Machine:
    """Which packages are installed, and which of them import."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, torch: str, **packages: bool) -> None:
        self.packages, self.removed = packages, list[str]()
        monkeypatch.setattr(repair, "installed_file", self.file)
        monkeypatch.setattr(repair, "imports", lambda module: packages.get(module, False))
        monkeypatch.setattr(repair, "remove", lambda module, why: self.removed.append(module))
        monkeypatch.setattr(repair, "declare_operators", lambda: None)
        monkeypatch.setattr(importlib.metadata, "version", lambda name: torch)

    def file(self, module: str) -> Any:
        return Path(module) if module in self.packages else None


def test_optional_companions_are_removed_only_where_they_do_not_import(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(
        monkeypatch, "2.13.0+cpu", torchvision=True, torchaudio=False, torchcodec=True
    )
    assert repair.main() == 0
    assert machine.removed == ["torchaudio"]


def test_triton_is_removed_beside_a_torch_without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, "2.13.0+cpu", torchvision=True, triton=True)
    assert repair.main() == 0
    assert machine.removed == ["triton"]


def test_triton_stays_beside_a_torch_with_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, "2.13.0", torchvision=True, triton=True)
    assert repair.main() == 0
    assert machine.removed == []


def test_a_torchvision_that_cannot_be_repaired_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Machine(monkeypatch, "2.13.0+cpu", torchvision=False)
    assert repair.main() == 1
    assert "make install" in capsys.readouterr().err


def test_a_package_is_found_without_importing_it() -> None:
    found = repair.installed_file("torchvision")
    assert found is None or found.name == "__init__.py"
    assert repair.installed_file("surely_not_installed_anywhere") is None


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The source of a `vllm` program, in a package of that name."""
    source = tmp_path / "vllm" / "entrypoints" / "cli" / "main.py"
    source.parent.mkdir(parents=True)
    source.write_text(f"import vllm\nparser = dict(version={repair.ASKS})\n")
    found = tmp_path / "vllm" / "__init__.py"
    monkeypatch.setattr(repair, "installed_file", lambda module: found)
    return source


@pytest.mark.parametrize("under_its_name", [True, False])
def test_the_program_is_mended_only_where_vllm_has_another_name(
    program: Path, monkeypatch: pytest.MonkeyPatch, under_its_name: bool
) -> None:
    monkeypatch.setattr(repair, "is_distribution", lambda name: under_its_name)
    before = program.read_text()
    repair.mend_program()
    assert (program.read_text() == before) == under_its_name
    repair.mend_program()
    assert (repair.KNOWS in program.read_text()) != under_its_name


def test_the_installed_program_asks_as_it_is_known_to() -> None:
    """Or has been mended already: another spelling would go unmended."""
    package = repair.installed_file("vllm")
    assert package
    text = (package.parent / "entrypoints" / "cli" / "main.py").read_text()
    assert (repair.ASKS in text) != (f"version={repair.KNOWS}" in text)


def test_whether_something_was_installed_under_a_name() -> None:
    assert repair.is_distribution("pytest")
    assert not repair.is_distribution("surely-not-installed-anywhere")
