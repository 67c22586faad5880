"""The rows. A new model is one more row; nothing else knows models by name.

The vLLM rows follow vLLM's multi-image example, the QAIC rows the table of vision-language models
in Qualcomm's Cloud AI documentation.
"""

from backend.buckets import DynamicResolution
from backend.catalog.spec import ModelSpec

QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"
QWEN_TEMPLATE = (
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "<|im_start|>user\n{placeholders}{question}<|im_end|>\n"
    "<|im_start|>assistant\n"
)
QAIC_TEMPLATE = "<|im_start|>user\n{placeholders}{question}<|im_end|>\n<|im_start|>assistant\n"
HEIGHTS, WIDTHS = (364, 512, 728), (532, 910, 1280)
"""Compiled resolutions of the QAIC documentation's dynamic-resolution example."""

QWEN2_5 = DynamicResolution(patch=14, merge=2)
QWEN3 = DynamicResolution(patch=16, merge=2)

ROWS: tuple[ModelSpec, ...] = (
    ModelSpec(
        key="bifocal-demo",
        label="Bifocal demo model",
        hf_id="assets/demo_model",
        architecture="Qwen2_5_VLForConditionalGeneration",
        origins=("bifocal",),
        image_token="<|image_pad|>",
        placeholder=QWEN_IMAGE,
        template=QAIC_TEMPLATE,
        resolution=QWEN2_5,
        heights=HEIGHTS,
        widths=WIDTHS,
        ctx_len=16384,
        max_images=8,
        decode_batch=8,
        vision_batch=4,
        cpu_kv_cache_mb=512,
        bundled=True,
    ),
    ModelSpec(
        key="qwen2_5_vl",
        label="Qwen2.5-VL 3B Instruct",
        hf_id="Qwen/Qwen2.5-VL-3B-Instruct",
        architecture="Qwen2_5_VLForConditionalGeneration",
        origins=("vllm",),
        image_token="<|image_pad|>",
        placeholder=QWEN_IMAGE,
        template=QWEN_TEMPLATE,
        resolution=QWEN2_5,
        heights=HEIGHTS,
        widths=WIDTHS,
        ctx_len=32768,
        max_images=12,
    ),
    ModelSpec(
        key="Qwen/Qwen2.5-VL-7B-Instruct",
        label="Qwen2.5-VL 7B Instruct",
        hf_id="Qwen/Qwen2.5-VL-7B-Instruct",
        architecture="Qwen2_5_VLForConditionalGeneration",
        origins=("qaic",),
        qaic_modes=("aot", "eager"),
        image_token="<|image_pad|>",
        placeholder=QWEN_IMAGE,
        template=QAIC_TEMPLATE,
        resolution=QWEN2_5,
        heights=HEIGHTS,
        widths=WIDTHS,
        ctx_len=32768,
        max_images=12,
    ),
    ModelSpec(
        key="Qwen/Qwen2.5-VL-32B-Instruct",
        label="Qwen2.5-VL 32B Instruct",
        hf_id="Qwen/Qwen2.5-VL-32B-Instruct",
        architecture="Qwen2_5_VLForConditionalGeneration",
        origins=("qaic",),
        qaic_modes=("aot", "eager"),
        image_token="<|image_pad|>",
        placeholder=QWEN_IMAGE,
        template=QAIC_TEMPLATE,
        resolution=QWEN2_5,
        heights=HEIGHTS,
        widths=WIDTHS,
        ctx_len=32768,
        max_images=12,
    ),
    ModelSpec(
        key="Qwen/Qwen3-VL-32B-Instruct",
        label="Qwen3-VL 32B Instruct",
        hf_id="Qwen/Qwen3-VL-32B-Instruct",
        architecture="Qwen3VLForConditionalGeneration",
        origins=("qaic",),
        qaic_modes=("aot", "eager"),
        image_token="<|image_pad|>",
        placeholder=QWEN_IMAGE,
        template=QAIC_TEMPLATE,
        resolution=QWEN3,
        heights=HEIGHTS,
        widths=WIDTHS,
        ctx_len=32768,
        max_images=12,
    ),
)
