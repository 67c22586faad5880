"""vLLM, memory, the model's files, its buckets and its servers, on any target."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psutil

from backend.bucket_checks import check_buckets
from backend.catalog.hub import config_folder
from backend.catalog.lookup import model_path
from backend.doctor.finding import Finding, failed, ok, warning
from backend.engines.remote_server import RemoteServer, make_client, servers_of
from backend.engines.serve_args import served_name
from backend.engines.version import NEWEST_KNOWN, check_vllm, installed_vllm
from backend.engines.weights import check_weights
from backend.errors import BifocalError, EngineError, ModelError
from backend.plan import Plan, detect_target, refuse_remote_code

GIB = 2**30
ENDPOINTS = {"vision": "/pooling", "language": "/inference/v1/generate"}


def check_vllm_version() -> Finding:
    """Which vLLM is installed."""
    try:
        check_vllm()
    except EngineError as error:
        return failed("vLLM", error.message, "install it again")
    version = str(installed_vllm())
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers > NEWEST_KNOWN:
        known = ".".join(map(str, NEWEST_KNOWN))
        return warning("vLLM", f"{version} is newer than {known}", f"if it fails, install {known}")
    return ok("vLLM", version)


def check_platform(plan: Plan) -> Finding:
    """Whether the installed vLLM is one for the target."""
    found = detect_target()
    if plan.topology == "remote":
        return ok("platform", f"{plan.target} at the servers; the vLLM here is for {found}")
    if found == plan.target:
        return ok("platform", f"{plan.target}, as the installed vLLM")
    files = {"cpu": "requirements.txt", "cuda": "requirements-cuda.txt"}
    wanted = files.get(plan.target, "requirements-qaic.txt")
    return failed(
        "platform", f"the installed vLLM is for {found}, and the target is {plan.target}",
        f"install {wanted} into an environment of its own, or leave --target out",
    )  # fmt: skip


def check_memory(plan: Plan) -> Finding:
    """Main memory: what weights take of it is part of the files' check."""
    free = psutil.virtual_memory().available
    what = f"{free / GIB:.1f} GiB are free"
    if free < 2 * GIB:
        return failed("memory", what, "end other programs: vLLM alone takes 2 GiB and more")
    return ok("memory", what)


def check_files(plan: Plan) -> Finding:
    """Whether the model's files are here, whole, and fit into memory."""
    path = model_path(plan.spec)
    try:
        refuse_remote_code(plan)
        if Path(path).is_dir():
            check_weights(Path(path), plan)
            return ok("model files", path)
        config_folder(path)
    except BifocalError as error:
        what, advice = _split(error)
        return failed("model files", what, advice)
    if _has_weights(path):
        return ok("model files", f"{path}, in the Hub's folder on this machine")
    return warning(
        "model files", f"the weights of {path} are not here", "the first start downloads them"
    )


def check_sizes(plan: Plan) -> Finding:
    """The sizes that pictures are put into."""
    try:
        buckets = plan.buckets
        if plan.resolution.has_buckets and buckets:
            check_buckets(buckets, plan.ctx_len, plan.batched_tokens)
    except BifocalError as error:
        what, advice = _split(error)
        return failed("buckets", what, advice)
    if not buckets:
        return ok("buckets", "none: the model's own processor decides")
    sizes = ", ".join(f"{b.height}x{b.width} ({b.tokens} tokens)" for b in buckets)
    return ok("buckets", sizes)


def check_servers(plan: Plan) -> Iterator[Finding]:
    """Every server of the topology `remote`."""
    for role, name in (("vision", "vision encoder"), ("language", "language decoder")):
        for server in servers_of(plan, role):
            asyncio.run(_look(server, ENDPOINTS[role]))
            url = server.address.url
            if server.fault is None:
                yield ok(name, f"{url} serves {served_name(plan, role)}")
            else:
                what, advice = _halves(server.fault.message)
                where = f"{url}: {server.fault.seen}" if server.fault.seen else url
                yield failed(name, f"{what} ({where})", advice)


async def _look(server: RemoteServer, endpoint: str) -> None:
    async with make_client() as client:
        await server.look(client, endpoint)


def _has_weights(hf_id: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    names = ("model.safetensors", "model.safetensors.index.json")
    return any(isinstance(try_to_load_from_cache(hf_id, name), str) for name in names)


def _split(error: BifocalError) -> tuple[str, str]:
    """What is wrong and what to do, of a message that has both."""
    if isinstance(error, ModelError) and error.code == "unknown_model":
        return error.message, "see `launch.py models`"
    return _halves(error.message)


def _halves(message: str) -> tuple[str, str]:
    what, colon, advice = message.partition(": ")
    return (what, advice.rstrip(".")) if colon else (message, "see above")
