"""Rows of the QAIC table alone; its other two models are rows of vLLM's example as well.

The table gives id, architecture and modes. Prompt, sampling and engine arguments are those of the
document's example, which runs Qwen2.5-VL; InternVL's prompt is the one vLLM's example has for it.
Engine arguments on QAIC are the target's (see `backend.targets`), the same for every model but for
what its `QaicRow` says.
"""

from typing import Any

from backend.catalog.qaic_row import QaicRow
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

EAGER_PIXELS = {"min_pixels": 28 * 28, "max_pixels": 1280 * 28 * 28}
"""Areas in pixels, of the plugin's eager example: at most 1,280 visual tokens of Qwen2.5-VL. Its
`fps` is for video, which is off."""

ROWS: tuple[ModelSpec, ...] = (
    ModelSpec(
        key="OpenGVLab/InternVL2_5-1B",
        label="InternVL2.5 1B",
        hf_id="OpenGVLab/InternVL2_5-1B",
        architecture="InternVLChatModel",
        origins=("qaic",),
        qaic_modes=("aot",),
        qaic=QaicRow(aot_processor={"max_dynamic_patch": 12}),
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
        qaic=QaicRow(takes_grid=True, eager_processor=EAGER_PIXELS, eager_devices=1),
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
        qaic=QaicRow(takes_grid=True, eager_processor=EAGER_PIXELS, eager_devices=4),
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
        qaic=QaicRow(takes_grid=True, eager_processor=EAGER_PIXELS, eager_devices=4),
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
