"""What Bifocal uses of vLLM, by name, and reading its signatures from a version's source.

    python -m tests.unit.vllm_surface FOLDER > tests/unit/golden/vllm_VERSION.json

records a version; FOLDER holds its `vllm` package (a wheel, unpacked). Nothing of it is imported.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend.settings import repository

ASYNC_LLM = "vllm.v1.engine.async_llm:AsyncLLM"
CURSOR = "vllm.v1.pool.metadata:PoolingCursor"
PLACE = "vllm.multimodal.inputs:PlaceholderRange"
INTERFACE = "vllm.model_executor.models.interfaces:SupportsMultiModal"

CALLS: dict[str, tuple[int, tuple[str, ...]]] = {
    f"{ASYNC_LLM}.from_vllm_config": (1, ("stat_loggers", "disable_log_stats")),
    f"{ASYNC_LLM}.encode": (3, ()),
    f"{ASYNC_LLM}.generate": (3, ("lora_request",)),
    f"{ASYNC_LLM}.shutdown": (0, ("timeout",)),
    f"{ASYNC_LLM}.check_health": (0, ()),
    f"{ASYNC_LLM}.is_sleeping": (0, ()),
    f"{ASYNC_LLM}.collective_rpc": (1, ()),
    f"{ASYNC_LLM}.get_tokenizer": (0, ()),
    "vllm.engine.arg_utils:EngineArgs.create_engine_config": (0, ()),
    "vllm.inputs.engine:mm_input": (4, ()),
    "vllm.inputs.engine:tokens_input": (1, ()),
    "vllm.renderers.base:BaseRenderer.render_cmpl_async": (1, ()),
    "vllm.renderers.base:BaseRenderer.shutdown": (0, ()),
    "vllm.renderers.registry:renderer_from_config": (1, ()),
    "vllm.renderers.hf:resolve_chat_template": (
        1, ("chat_template", "tools", "model_config"),
    ),
    "vllm.utils.async_utils:cancel_task_threadsafe": (1, ()),
    f"{PLACE}.get_num_embeds": (0, ()),
    f"{PLACE}.extract_embeds_range": (0, ()),
    f"{CURSOR}.is_finished": (0, ()),
    "vllm.v1.pool.metadata:PoolingMetadata.get_pooling_cursor": (0, ()),
    "vllm.v1.pool.metadata:PoolingStates.clean": (0, ()),
    "vllm.model_executor.models.registry:_ModelRegistry.register_model": (2, ()),
    "vllm.model_executor.models.registry:_ModelRegistry.get_supported_archs": (0, ()),
    "vllm.model_executor.layers.pooler.abstract:Pooler.get_supported_tasks": (0, ()),
    "vllm.model_executor.layers.pooler.abstract:Pooler.forward": (2, ()),
    "vllm._custom_ops:onednn_mm": (3, ()),
    "vllm.v1.worker.gpu_worker:Worker.execute_model": (1, ()),
}  # fmt: skip
"""Function or method to how many arguments it is called with by place, and which by name."""

FIELDS: dict[str, tuple[str, ...]] = {
    PLACE: ("offset", "length", "is_embed"),
    CURSOR: ("num_scheduled_tokens_cpu",),
    "vllm.v1.core.sched.output:SchedulerOutput": ("total_num_scheduled_tokens",),
    "vllm.multimodal.inputs:MultiModalFieldElem": ("data", "field"),
    "vllm.pooling_params:PoolingParams": ("task", "use_activation"),
    "vllm.sampling_params:SamplingParams": (
        "max_tokens", "temperature", "top_p", "seed", "stop_token_ids", "skip_special_tokens",
        "extra_args", "output_kind",
    ),
    "vllm.lora.request:LoRARequest": ("lora_name", "lora_int_id", "lora_path"),
    "vllm.v1.pool.metadata:PoolingMetadata": ("pooling_states",),
    "vllm.v1.metrics.loggers:PrometheusStatLogger": (
        "_gauge_cls", "_counter_cls", "_histogram_cls",
    ),
    INTERFACE: ("_tower_model_names",),
    "vllm.outputs:PoolingRequestOutput": ("outputs", "finished"),
    "vllm.outputs:CompletionOutput": ("text", "token_ids", "finish_reason"),
    "vllm.v1.engine.core_client:BackgroundResources": ("engine_manager",),
}  # fmt: skip
"""Class to the fields that are read or given; engine arguments are looked at apart."""

ENGINE_ARGS = "vllm.engine.arg_utils:EngineArgs"


def imported() -> set[tuple[str, str]]:
    """Module and name of everything that Bifocal imports from vLLM."""
    found = set()
    for path in (repository() / "backend").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vllm"):
                found |= {(str(node.module), alias.name) for alias in node.names}
    return found


def record(folder: Path) -> dict[str, Any]:
    """The version in a folder: names that are there, parameters of functions, fields of classes."""
    return {
        "names": sorted(f"{m}:{n}" for m, n in imported() if _has(folder, m, n)),
        "parameters": {name: _parameters(folder, name) for name in CALLS},
        "fields": {name: _fields(folder, name) for name in (*FIELDS, ENGINE_ARGS)},
    }


def _source(folder: Path, module: str) -> Path | None:
    path = folder.joinpath(*module.split("."))
    found = [p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()]
    return found[0] if found else None


def _tree(folder: Path, module: str) -> ast.Module:
    source = _source(folder, module)
    return ast.parse(source.read_text("utf-8") if source else "")


def _has(folder: Path, module: str, name: str) -> bool:
    """Whether a module has a name, of its own or from one that it takes everything of."""
    if _source(folder, f"{module}.{name}"):
        return True
    for node in ast.walk(_tree(folder, module)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _targets(node):
            return True
        if isinstance(node, ast.ImportFrom):
            taken = {alias.asname or alias.name for alias in node.names}
            inner = f"{module}.{node.module}" if node.level else str(node.module)
            if name in taken or ("*" in taken and _has(folder, inner, name)):
                return True
    return False


def _find(folder: Path, name: str) -> ast.AST | None:
    module, _, path = name.partition(":")
    node: ast.AST | None = _tree(folder, module)
    for part in path.split("."):
        inner = getattr(node, "body", ())
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        # The last one: those before it are overloads.
        node = next((n for n in reversed(inner) if isinstance(n, kinds) and n.name == part), None)
        if node is None:
            return None
    return node


def _parameters(folder: Path, name: str) -> dict[str, list[str]] | None:
    node = _find(folder, name)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    given = node.args
    return {
        "by_place": [a.arg for a in (*given.posonlyargs, *given.args) if a.arg not in BOUND],
        "by_name": [a.arg for a in given.kwonlyargs],
    }


BOUND = ("self", "cls")


def _fields(folder: Path, name: str) -> list[str] | None:
    node = _find(folder, name)
    if not isinstance(node, ast.ClassDef):
        return None
    own = [t for n in node.body if isinstance(n, ast.Assign | ast.AnnAssign) for t in _targets(n)]
    made = _parameters(folder, f"{name}.__init__")
    return sorted({*own, *(made["by_place"] if made else ())})


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Name):
            yield target.id


if __name__ == "__main__":
    json.dump(record(Path(sys.argv[1])), sys.stdout, indent=1)
