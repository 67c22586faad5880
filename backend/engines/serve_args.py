"""What the `vllm serve` of `--topology remote` is started with; pure data, no vLLM needed."""

from __future__ import annotations

import json
from typing import Any

from backend.engines.args import EngineArgs, engine_args
from backend.plan import Plan

FRONT = (
    "model", "max_model_len", "trust_remote_code", "mm_processor_cache_gb", "mm_processor_kwargs",
    "hf_overrides", "limit_mm_per_prompt", "enable_mm_embeds", "runner", "tokenizer_mode",
    "ignore_patterns", "seed",
)  # fmt: skip
"""Arguments that decide how a prompt is rendered; the others are the servers' alone."""


def served_name(plan: Plan, role: str) -> str:
    """The name that a server has its model under, by which Bifocal knows it for the right one."""
    return f"{plan.spec.key}.{role}"


def wire_dtype(plan: Plan) -> str:
    """Type in which rows travel: the engines' where it is set, else float32, which loses nothing of
    any other."""
    return plan.dtype or "float32"


def serve_args(plan: Plan) -> dict[str, EngineArgs]:
    """Arguments by role: the split's, and what its two servers need beside them."""
    roles = engine_args(plan)
    ports = {
        "vision": plan.vision_servers[0].port,
        "language": plan.language_servers[0].port,
    }
    own: dict[str, EngineArgs] = {
        "vision": {"chat_template": image_template(plan)},
        "language": {"enable_scale_out": True},
    }
    return {
        role: {
            # Counters are looked at over HTTP.
            **{name: value for name, value in args.items() if name != "disable_log_stats"},
            "served_model_name": served_name(plan, role),
            **own[role],
            "port": ports[role],
        }
        for role, args in roles.items()
    }


def image_template(plan: Plan) -> str:
    """A chat template that writes one image's placeholder: what an encoder reads of any message."""
    token = plan.spec.image_token.replace("{i}", "1")
    return "{{ " + json.dumps(token, ensure_ascii=False) + " }}"


def front_args(plan: Plan, role: str) -> dict[str, Any]:
    """Engine arguments for rendering alone, on the machine that Bifocal runs on."""
    args = engine_args(plan)[role]
    return {name: value for name, value in args.items() if name in FRONT}
