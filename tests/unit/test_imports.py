"""Who may import whom, as the architecture says; and that importing does no work."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.settings import repository

ROOT = repository()
OURS = ("backend", "ui", "launch")

# Module (or package) to what of our own it may import; the longest name that fits counts.
ALLOWED = {
    "backend": (),
    "backend.placement": (),
    "backend.types": ("backend.placement",),
    "backend.errors": (),
    "backend.env_file": ("backend.errors",),
    "backend.settings": ("backend.env_file", "backend.errors", "backend.placement"),
    "backend.addresses": ("backend.errors", "backend.settings"),
    "backend.bucket_checks": ("backend.errors", "backend.placement"),
    "backend.buckets": (
        "backend.bucket_checks", "backend.errors", "backend.heavy_imports", "backend.losses",
        "backend.placement",
    ),
    "backend.heap": (),
    "backend.heavy_imports": (),
    "backend.fitting": ("backend.placement",),
    "backend.losses": ("backend.placement",),
    "backend.grids": ("backend.heavy_imports",),
    "backend.anyres": (
        "backend.bucket_checks", "backend.heavy_imports", "backend.losses", "backend.placement",
    ),
    "backend.resolution": (
        "backend.anyres", "backend.bucket_checks", "backend.buckets", "backend.grids",
        "backend.losses", "backend.placement",
    ),
    "backend.shared_bucket": ("backend.bucket_checks", "backend.buckets", "backend.placement"),
    "backend.cache": ("backend.types",),
    "backend.stopwatch": ("backend.types",),
    "backend.tasks": (),
    "backend.repair": (),
    "backend.catalog": (
        "backend.anyres", "backend.buckets", "backend.catalog", "backend.errors", "backend.grids",
        "backend.resolution", "backend.settings", "backend.types",
    ),
    "backend.targets": (),
    "backend.qaic_mode": (
        "backend.catalog", "backend.errors", "backend.settings", "backend.targets",
    ),
    "backend.plan": (
        "backend.addresses", "backend.bucket_checks", "backend.catalog", "backend.errors",
        "backend.placement", "backend.processor", "backend.qaic_mode", "backend.resolution",
        "backend.settings", "backend.targets", "backend.types",
    ),
    "backend.processor": (),
    "backend.plain_text": (),
    "backend.chat_template": ("backend.errors",),
    "backend.written": ("backend.catalog", "backend.chat_template", "backend.types"),
    "backend.prompts": (
        "backend.catalog", "backend.errors", "backend.plain_text", "backend.types",
        "backend.written",
    ),
    "backend.model_sampling": ("backend.catalog", "backend.types"),
    "backend.request_preview": (
        "backend.catalog", "backend.model_sampling", "backend.plan", "backend.settings",
        "backend.targets", "backend.types", "backend.written",
    ),
    "backend.validate": ("backend.errors", "backend.plan", "backend.types"),
    "backend.intake": (
        "backend.cache", "backend.engines.protocols", "backend.errors", "backend.fitting",
        "backend.intake", "backend.placement", "backend.plan", "backend.settings",
        "backend.shared_bucket", "backend.types",
    ),
    "backend.context": (
        "backend.errors", "backend.intake", "backend.plan", "backend.prompts", "backend.types",
    ),
    "backend.engines": (
        "backend.addresses", "backend.catalog", "backend.engines", "backend.errors",
        "backend.heavy_imports", "backend.placement", "backend.plan", "backend.prompts",
        "backend.targets", "backend.types",
    ),
    "backend.engines.qaic_args": ("backend.buckets", "backend.catalog", "backend.plan"),
    "backend.engines.protocols": ("backend.placement", "backend.prompts", "backend.types"),
    "backend.engines.plugin": ("backend.engines.root_cause",),
    "backend.engines.root_cause": (),
    "backend.doctor": (
        "backend.bucket_checks", "backend.catalog", "backend.doctor", "backend.engines.qaic_args",
        "backend.engines.remote_server", "backend.engines.serve_args", "backend.engines.version",
        "backend.engines.weights", "backend.errors", "backend.plan",
    ),
    "backend.admission": ("backend.errors",),
    "backend.bench": (
        "backend.bench", "backend.heap", "backend.catalog.lookup", "backend.engines.gpu_memory",
        "backend.engines.loader", "backend.engines.unaided", "backend.engines.weights",
        "backend.errors", "backend.heavy_imports", "backend.plan",
        "backend.service", "backend.settings", "backend.tasks", "backend.types",
    ),
    "backend.client": (),
    "backend.deadline": ("backend.errors",),
    "backend.journal": ("backend.client", "backend.errors", "backend.metrics", "backend.types"),
    "backend.metrics": ("backend.types",),
    "backend.rate": ("backend.errors",),
    "backend.images": (
        "backend.engines.protocols", "backend.intake", "backend.placement", "backend.plan",
        "backend.settings", "backend.stopwatch", "backend.tasks", "backend.types",
    ),
    "backend.keeper": (
        "backend.engines.loader", "backend.engines.protocols", "backend.errors", "backend.heap",
        "backend.types",
    ),
    "backend.supervisor": (
        "backend.engines.abandon", "backend.engines.counters", "backend.engines.loader",
        "backend.engines.protocols", "backend.errors", "backend.heap", "backend.keeper",
        "backend.plan", "backend.types",
    ),
    "backend.gauges": (
        "backend.admission", "backend.cache", "backend.supervisor", "backend.types",
    ),
    "backend.service": (
        "backend.admission", "backend.cache", "backend.client", "backend.context",
        "backend.deadline", "backend.engines.loader", "backend.engines.protocols", "backend.gauges",
        "backend.images", "backend.intake", "backend.journal", "backend.metrics",
        "backend.model_sampling", "backend.placement", "backend.plan", "backend.rate",
        "backend.settings", "backend.stopwatch", "backend.supervisor", "backend.tasks",
        "backend.types", "backend.validate",
    ),
    "ui": (
        "backend.client", "backend.errors", "backend.placement", "backend.service",
        "backend.settings", "backend.types", "ui",
    ),
    "ui.command_line": (
        "backend.admission", "backend.bench", "backend.catalog", "backend.client", "backend.doctor",
        "backend.engines.architectures", "backend.engines.args", "backend.engines.local_tokenizer",
        "backend.engines.qaic_args", "backend.engines.serve_args", "backend.errors",
        "backend.placement", "backend.plan", "backend.request_preview", "backend.service",
        "backend.settings", "backend.types", "ui",
    ),
    "launch": (
        "backend.engines.environment", "backend.errors", "backend.plan", "backend.service",
        "backend.settings", "ui",
    ),
}  # fmt: skip

# Foreign package to the modules (or packages) that may import it.
KEEPERS = {
    "vllm": ("backend.engines",),
    "torch": ("backend.engines",),
    "torchvision": (),
    "transformers": ("backend.anyres", "backend.buckets", "backend.engines", "backend.grids"),
    "huggingface_hub": ("backend.catalog.hub", "backend.doctor.machine", "backend.engines"),
    "jinja2": ("backend.chat_template",),
    "requests": ("backend.intake.fetch",),
    "urllib3": ("backend.intake.fetch",),
    "pillow_heif": ("backend.intake.formats",),
    "prometheus_client": (
        "backend.engines",
        "backend.keeper",
        "backend.metrics",
        "backend.supervisor",
    ),
    "psutil": (
        "backend.bench.machine",
        "backend.bench.memory",
        "backend.doctor.machine",
        "backend.engines.ending",
        "backend.engines.pulse",
        "backend.engines.weights",
        "ui.disk",
    ),
    "numpy": ("backend.intake.depth",),
    "PIL": (
        "backend.bench.pictures",
        "backend.engines.unaided",
        "backend.fitting",
        "backend.intake",
        "ui",
    ),
    "gradio": ("ui",),
    "gradio_client": ("ui",),
    "fastapi": ("ui",),
    "starlette": ("ui",),
    "uvicorn": ("ui.command_line.bench_page", "ui.command_line.serve"),
    "httpx": (
        "backend.engines.fleet",
        "backend.engines.remote_server",
        "backend.engines.server_faults",
        "ui.tunnel",
    ),
    "dotenv": ("backend.env_file",),
    "pydantic": ("backend.settings", "ui.guard"),
    "pydantic_settings": ("backend.settings",),
}

# What a module may not do while it is imported.
WORK = {
    "open", "read_text", "read_bytes", "write_text", "run", "Popen", "connect", "urlopen",
    "from_pretrained", "sleep", "create_app", "load_engines", "read_settings", "make_plan",
    "mkdir", "submit", "create_task",
}  # fmt: skip


def modules() -> dict[str, Path]:
    """Every module of the application by name."""
    paths = [*ROOT.glob("backend/**/*.py"), *ROOT.glob("ui/**/*.py"), ROOT / "launch.py"]
    names = {}
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


MODULES = modules()


def imports(path: Path, typing_too: bool = False) -> Iterator[str]:
    """Names imported anywhere in a module, also inside functions; not those for types alone."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            skipped |= {inner for statement in node.body for inner in ast.walk(statement)}
    for node in ast.walk(tree):
        if node in skipped and not typing_too:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            assert node.module
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def rule(module: str) -> tuple[str, ...]:
    fitting = [name for name in ALLOWED if within(module, (name,))]
    longest = max(fitting, key=len)
    if longest == "backend" and module != "backend":
        pytest.fail(f"{module} is new: say in ALLOWED what of our own it may import")
    return ALLOWED[longest]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_what_its_layer_may(module: str) -> None:
    allowed = rule(module)
    for name in imports(MODULES[module]):
        if within(name, OURS):
            assert within(name, allowed), f"{module} may not import {name}"


@pytest.mark.parametrize("module", [m for m in MODULES if within(m, ("backend",))])
def test_the_backend_knows_no_user_interface_not_even_for_types(module: str) -> None:
    for name in imports(MODULES[module], typing_too=True):
        assert not within(name, ("ui", "launch", "gradio", "gradio_client", "fastapi"))


@pytest.mark.parametrize("module", ["backend.placement", "backend.errors"])
def test_the_lowest_layer_is_on_the_standard_library_alone(module: str) -> None:
    for name in imports(MODULES[module]):
        assert name.partition(".")[0] in sys.stdlib_module_names, name


@pytest.mark.parametrize("module", MODULES)
def test_foreign_packages_stay_with_their_keepers(module: str) -> None:
    for name in imports(MODULES[module]):
        package = name.partition(".")[0]
        if package in sys.stdlib_module_names or package in OURS:
            continue
        assert package in KEEPERS, f"{module} imports {package}: say in KEEPERS who may"
        assert within(module, KEEPERS[package]), f"{module} may not import {package}"


def test_the_arguments_of_engines_are_data_alone() -> None:
    """`engine-args` answers without vLLM."""
    for module in (
        "backend.engines.args", "backend.engines.environment", "backend.engines.qaic_args",
        "backend.engines.serve_args",
    ):  # fmt: skip
        assert not any(within(name, ("vllm", "torch")) for name in imports(MODULES[module]))


@pytest.mark.parametrize("module", MODULES)
def test_importing_a_module_does_no_work(module: str) -> None:
    """No files, processes or connections, and no bare calls, before somebody asks for them."""
    for statement in ast.parse(MODULES[module].read_text("utf-8")).body:
        if isinstance(statement, ast.If):
            test = ast.unparse(statement.test)
            assert "TYPE_CHECKING" in test or "__name__" in test, f"{module}: if {test}"
            continue
        allowed = (
            ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr, ast.ClassDef,
            ast.FunctionDef, ast.AsyncFunctionDef,
        )  # fmt: skip
        assert isinstance(statement, allowed), f"{module}: line {statement.lineno}"
        if isinstance(statement, ast.Expr):
            assert isinstance(statement.value, ast.Constant), f"{module}: line {statement.lineno}"
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value:
            for node in ast.walk(statement.value):
                if isinstance(node, ast.Call):
                    called = ast.unparse(node.func).rpartition(".")[2]
                    assert called not in WORK, f"{module}: line {statement.lineno} calls {called}"


HEAVY = {"vllm", "torch", "transformers", "torchvision"}
PAGE = {"gradio", "fastapi", "uvicorn", "requests"}


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("launch", HEAVY | PAGE | {"PIL"}),
        ("backend.service", HEAVY | {"gradio", "fastapi"}),
        ("ui.app", HEAVY),
    ],
)
def test_importing_it_stays_light(module: str, absent: set[str]) -> None:
    """The page is up within seconds, and every engine process imports `launch` again."""
    if module not in MODULES:
        pytest.skip(f"there is no {module}")
    command = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True, text=True, check=True, timeout=120, cwd=ROOT,
    )  # fmt: skip
    assert not absent & set(json.loads(result.stdout.splitlines()[-1]))


ALREADY_THERE = {
    "backend.engines.loader": "what `import_engines` has imported before, and under the lock",
    "backend.engines.plugin": "vLLM itself, which loads the plugin, has been imported",
    "backend.engines.views": "called by the plugin",
}
"""Modules whose late imports of vLLM find it imported."""


@pytest.mark.parametrize(
    "module", [m for m in MODULES if within(m, ("backend",)) and m not in ALREADY_THERE]
)
def test_heavy_imports_wait_for_each_other(module: str) -> None:
    """Two threads that import transformers at once can get one of its packages unfinished."""
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    guarded = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and "heavy_imports()" in ast.unparse(node.items[0])
        for inner in ast.walk(node)
    }
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom) and node not in guarded:
                names = [getattr(node, "module", None) or alias.name for alias in node.names]
                heavy = [n for n in names if n.partition(".")[0] in ("transformers", "vllm")]
                assert not heavy, f"{module}: line {node.lineno}"
