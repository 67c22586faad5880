"""Rows of the QAIC table alone; its other two models are rows of vLLM's example as well.

The table gives id, architecture and modes. Prompt, sampling and engine arguments are those of the
document's example, which runs Qwen2.5-VL; InternVL's prompt is the one vLLM's example has for it.
Engine arguments on QAIC are the target's (see `backend.plan.TARGETS`), the same for every model.
"""

from typing import Any

from backend.catalog.shapes import (
    HEIGHTS,
    INTERNVL,
    NUMBERED_TEXT,
    QAIC_QWEN_PROMPT,
    QWEN2,
    QWEN3,
    QWEN_IMAGE,
    QWEN_PAD,
    WIDTHS,
)
from backend.catalog.spec import ModelSpec

SAMPLING: dict[str, Any] = {"max_tokens": 64}
CTX_LEN = 32768
"""Off the cards, where the document says nothing, as vLLM's example has it for Qwen."""

ROWS: tuple[ModelSpec, ...] = (
    ModelSpec(
        key="OpenGVLab/InternVL2_5-1B",
        label="InternVL2.5 1B",
        hf_id="OpenGVLab/InternVL2_5-1B",
        architecture="InternVLChatModel",
        origins=("qaic",),
        qaic_modes=("aot",),
        prompt=NUMBERED_TEXT,
        image_token="<image>",
        sampling=SAMPLING,
        own_ctx_len=8192,
        remote_code=True,
        resolution=INTERNVL,
    ),
    ModelSpec(
        key="Qwen/Qwen2.5-VL-7B-Instruct",
        label="Qwen2.5-VL 7B Instruct",
        hf_id="Qwen/Qwen2.5-VL-7B-Instruct",
        architecture="Qwen2_5_VLForConditionalGeneration",
        origins=("qaic",),
        qaic_modes=("aot", "eager"),
        prompt=QAIC_QWEN_PROMPT,
        image_token=QWEN_PAD,
        chat_image=QWEN_IMAGE,
        sampling=SAMPLING,
        own_ctx_len=CTX_LEN,
        resolution=QWEN2,
        heights=HEIGHTS,
        widths=WIDTHS,
    ),
    ModelSpec(
        key="Qwen/Qwen2.5-VL-32B-Instruct",
        label="Qwen2.5-VL 32B Instruct",
        hf_id="Qwen/Qwen2.5-VL-32B-Instruct",
        architecture="Qwen2_5_VLForConditionalGeneration",
        origins=("qaic",),
        qaic_modes=("aot", "eager"),
        prompt=QAIC_QWEN_PROMPT,
        image_token=QWEN_PAD,
        chat_image=QWEN_IMAGE,
        sampling=SAMPLING,
        own_ctx_len=CTX_LEN,
        resolution=QWEN2,
        heights=HEIGHTS,
        widths=WIDTHS,
    ),
    ModelSpec(
        key="Qwen/Qwen3-VL-32B-Instruct",
        label="Qwen3-VL 32B Instruct",
        hf_id="Qwen/Qwen3-VL-32B-Instruct",
        architecture="Qwen3VLForConditionalGeneration",
        origins=("qaic",),
        qaic_modes=("aot", "eager"),
        prompt=QAIC_QWEN_PROMPT,
        image_token=QWEN_PAD,
        chat_image=QWEN_IMAGE,
        sampling=SAMPLING,
        own_ctx_len=CTX_LEN,
        resolution=QWEN3,
        heights=HEIGHTS,
        widths=WIDTHS,
    ),
    ModelSpec(
        key="OpenGVLab/InternVL3_5-8B-Instruct",
        label="InternVL3.5 8B Instruct",
        hf_id="OpenGVLab/InternVL3_5-8B-Instruct",
        architecture="InternVLChatModel",
        origins=("qaic",),
        qaic_modes=("eager",),
        prompt=NUMBERED_TEXT,
        image_token="<image>",
        sampling=SAMPLING,
        own_ctx_len=8192,
        remote_code=True,
        resolution=INTERNVL,
    ),
)
