"""What is refused before vLLM is imported, and what vLLM's own objects are given."""

import gc
import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backend.catalog import get_model
from backend.engines import loader, visible_devices
from backend.errors import BifocalError, ModelError, SettingError
from backend.plan import make_plan
from backend.settings import read_settings


def load(**flags: Any) -> BifocalError:
    plan = make_plan(read_settings({"target": "cpu", **flags}))
    with pytest.raises(BifocalError) as caught:
        loader.EngineLoader()(plan, "vision", lambda doing: None)
    return caught.value


def test_a_models_own_code_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    error = load(model="h2ovl_chat")
    assert isinstance(error, SettingError)
    assert "--trust-remote-code" in error.message


@pytest.mark.parametrize(("imported", "told"), [(False, ["importing vLLM"]), (True, [])])
def test_an_engine_that_is_started_again_imports_nothing(
    imported: bool, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a server is away the page goes on saying so, in whichever second it is asked."""
    if imported:
        monkeypatch.setitem(sys.modules, loader.ENGINE_MODULE, None)
    else:
        monkeypatch.delitem(sys.modules, loader.ENGINE_MODULE, raising=False)
    said: list[str] = []
    plan = make_plan(read_settings({"target": "cpu", "model": "h2ovl_chat"}))
    with pytest.raises(SettingError):
        loader.EngineLoader()(plan, "vision", said.append)
    assert said == told


def test_a_family_that_vllm_dropped_is_told_with_its_last_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("backend.engines.architectures.known_architectures", lambda: {"Other"})
    error = load(model="tarsier", trust_remote_code=True)
    assert isinstance(error, ModelError)
    assert (error.code, "0.24.0" in error.message) == ("model_unavailable", True)


def test_a_model_that_cannot_be_had_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(self: object, hf_id: str, timeout: float) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", unreachable)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: None)
    monkeypatch.setattr(loader, "refuse_unknown_architecture", lambda spec: None)
    error = load(model="llava-next")
    assert (error.code, error.exit_status) == ("model_unavailable", 3)
    assert "llava-hf/llava-v1.6-mistral-7b-hf" in error.message


def test_an_adapter_is_found_among_the_models_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from backend.engines import lora

    (tmp_path / "vision-lora").mkdir()
    monkeypatch.setattr(lora, "model_path", lambda spec: str(tmp_path))
    request = lora.lora_request(get_model("phi4_mm"))
    assert request is not None
    assert (request.lora_name, request.lora_int_id) == ("vision", 1)
    assert request.lora_path == str(tmp_path / "vision-lora")
    assert lora.lora_request(get_model("llava")) is None


def test_the_architectures_of_the_installed_vllm() -> None:
    """The real registry: every row that upstream did not drop is in it."""
    from backend.catalog import ROWS
    from backend.engines.architectures import known_architectures

    known = known_architectures()
    missing = {row.key for row in ROWS if row.architecture not in known}
    assert missing == {row.key for row in ROWS if row.last_vllm}


def test_the_chat_template_is_the_one_vllm_resolves(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A processor's template counts before the tokenizer's, as in `LLM.chat`."""
    from backend.engines import chat_tokenizer

    monkeypatch.setattr(chat_tokenizer, "resolve_chat_template", lambda *_, **__: "{{ 6 * 7 }}")
    made = chat_tokenizer.ChatTokenizer(tokenizer, model_config=None)
    assert made.chat_template == "{{ 6 * 7 }}"
    messages = [{"role": "user", "content": "Hi"}]
    assert made.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) == "42"
    assert made.get_added_vocab() == tokenizer.get_added_vocab()


def test_sampling_reaches_vllm_whole() -> None:
    from backend.engines.decoder import sampling_params
    from backend.types import Sampling

    made = sampling_params(
        Sampling(
            9, 0.5, 0.9, 3, stop_token_ids=(7,), skip_special_tokens=False, extra_args={"a": 1}
        )
    )
    assert (made.max_tokens, made.temperature, made.top_p, made.seed) == (9, 0.5, 0.9, 3)
    assert (made.stop_token_ids, made.skip_special_tokens) == ([7], False)
    assert made.extra_args == {"a": 1}


def test_a_row_is_split_only_where_upstream_marks_the_halves() -> None:
    """The plugin derives the halves from `_mark_tower_model` and its like, in class or base."""
    from vllm.model_executor.models.registry import _MULTIMODAL_MODELS

    from backend.catalog import ROWS

    for row in ROWS:
        if not row.split:
            continue
        module, name = _MULTIMODAL_MODELS[row.architecture]
        assert _marks(module, name), row.key


def _marks(module: str, name: str) -> bool:
    """Whether a class of vLLM's models, or a base of it in its own or another module, has them."""
    import ast
    import importlib.util

    found = importlib.util.find_spec("vllm.model_executor.models")
    assert found is not None
    (folder,) = found.submodule_search_locations or ()
    tree = ast.parse((Path(folder) / f"{module}.py").read_text("utf-8"))
    (made,) = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name]
    if "_mark_" in ast.unparse(made):
        return True
    bases = {ast.unparse(base) for base in made.bases}
    local = {n.name for n in tree.body if isinstance(n, ast.ClassDef)} & bases
    imported = [
        (node.module, alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
        for alias in node.names
        if alias.name in bases and node.module != "interfaces"
    ]
    return any(_marks(*pair) for pair in [*imported, *((module, base) for base in local)])


def fake_starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A loader without vLLM; what it did, in order."""
    done: list[str] = []

    def configure(plan: Any, role: str) -> str:
        done.append(f"configure {role}")
        return role

    monkeypatch.setattr(loader, "refuse_unknown_architecture", lambda spec: None)
    monkeypatch.setattr(loader, "engine_config", configure)
    monkeypatch.setattr(
        loader, "_start", lambda plan, role, config: done.append(f"start {role} {config}")
    )
    return done


def test_all_is_configured_before_the_first_engine_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """vLLM keeps the configuration it works with in a global."""
    done = fake_starts(monkeypatch)
    load_one, plan = loader.EngineLoader(), make_plan(read_settings({"target": "cpu"}))
    for role in ("language", "vision", "vision"):
        load_one(plan, role, lambda doing: None)
    assert done == [
        "configure vision", "configure language", "start language language", "start vision vision",
        "configure vision", "start vision vision",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "may_pass"), [("os.kill(os.getpid(), 9)", True), ("sys.exit(1)", False)]
)
def test_a_process_that_was_killed_while_starting_may_start_the_next_time(
    ends: str, may_pass: bool
) -> None:
    """vLLM does not always know how the process ended: its report may name no process at all."""
    child = multiprocessing.get_context("spawn").Process(
        target=exec, args=(f"import os, sys; {ends}",)
    )
    child.start()
    child.join()
    assert child not in multiprocessing.active_children()
    error = loader._start_failure("vision", RuntimeError(f"{loader.PROCESS_ENDED}. Failed: {{}}"))
    assert (error.may_pass, "SIGKILL" in error.message) == (may_pass, may_pass)
    del child
    gc.collect()


def test_the_signal_in_vllms_report_counts() -> None:
    """The process itself may be forgotten by then."""
    report = f"{loader.PROCESS_ENDED}. Failed core proc(s): {{'EngineCore': %d}}"
    assert loader._start_failure("vision", RuntimeError(report % -9)).may_pass
    assert not loader._start_failure("vision", RuntimeError(report % 1)).may_pass


def test_an_engine_process_sees_its_devices_and_the_next_may_start_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Devices are told by a variable of this process; it is another's as soon as one has begun."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    plan = make_plan(read_settings({"target": "cuda"}))
    running: set[int] = set()
    monkeypatch.setattr(visible_devices, "_children", lambda: set(running))
    both = threading.Barrier(2, timeout=20)
    seen: dict[int, str] = {}

    def start(device: int) -> int:
        seen[device] = os.environ["CUDA_VISIBLE_DEVICES"]
        running.add(device)
        both.wait()  # Loading takes a while: neither is ready before the other has begun.
        return device

    def begin(device: int) -> int:
        return visible_devices.start_on(plan, [device], lambda: start(device))

    with ThreadPoolExecutor(2) as pool:
        started = list(pool.map(begin, (3, 5)))
    assert started == [3, 5]
    assert seen == {3: "3", 5: "5"}
    assert "CUDA_VISIBLE_DEVICES" not in os.environ


def test_a_start_that_fails_gives_the_devices_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    plan = make_plan(read_settings({"target": "cuda"}))

    def start() -> None:
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        visible_devices.start_on(plan, [1], start)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0,1"


def test_what_vllms_configuration_refuses_is_told_without_pydantics_frame() -> None:
    from pydantic import BaseModel, field_validator

    class Config(BaseModel):
        size: int

        @field_validator("size")
        @classmethod
        def _check(cls, size: int) -> int:
            raise ValueError("the card has no such size")

    with pytest.raises(ValueError) as caught:
        Config(size=3)
    message = loader._start_failure("vision", caught.value).message
    assert message.startswith("The vision engine did not start: the card has no such size Set ")
