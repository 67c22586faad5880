"""Rows that neither document has: the bundled model, and families added since."""

from backend.catalog.prompt_style import ExplicitPrompt, Placeholders
from backend.catalog.qaic_row import QaicRow
from backend.catalog.shapes import HEIGHTS, QAIC_QWEN_PROMPT, QWEN2, QWEN_IMAGE, QWEN_PAD, WIDTHS
from backend.catalog.spec import ModelSpec

BUNDLED: tuple[ModelSpec, ...] = (
    ModelSpec(
        key="bifocal-demo",
        label="Bifocal demo model",
        hf_id="assets/demo_model",
        architecture="Qwen2_5_VLForConditionalGeneration",
        origins=("bifocal",),
        prompt=QAIC_QWEN_PROMPT,
        image_token=QWEN_PAD,
        chat_image=QWEN_IMAGE,
        max_model_len=16384,
        max_num_seqs=16,
        qaic=QaicRow(takes_grid=True),
        resolution=QWEN2,
        heights=HEIGHTS,
        widths=WIDTHS,
        max_images=8,
        vision_batch=4,
        cpu_kv_cache_mb=512,
        cpu_decode_threads=1,
        bundled=True,
        about="This is the small demo model that comes with Bifocal. It knows coloured shapes and "
        "short words on plain pictures, like those below; of anything else it says that it does "
        "not. Start Bifocal with another --model for photographs.",
    ),
)

ADDED: tuple[ModelSpec, ...] = (
    ModelSpec(
        key="granite_vision",
        label="Granite Vision 3.3 2B",
        hf_id="ibm-granite/granite-vision-3.3-2b",
        architecture="LlavaNextForConditionalGeneration",
        origins=("bifocal",),
        # The system message that the model's own chat template writes.
        prompt=ExplicitPrompt(
            "<|system|>\n"
            "A chat between a curious user and an artificial intelligence assistant. "
            "The assistant gives helpful, detailed, and polite answers to the user's questions.\n"
            "<|user|>\n{placeholders}{question}\n<|assistant|>\n",
            Placeholders("<image>\n"),
        ),
        image_token="<image>",
        max_model_len=8192,
        max_num_seqs=2,
    ),
)
