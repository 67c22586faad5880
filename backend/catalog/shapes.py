"""Prompts, pictures and sizes that several rows have in common."""

from backend.anyres import AnyResolution
from backend.buckets import DynamicResolution
from backend.catalog.prompt_style import ExplicitPrompt, PartsMessage, Placeholders, TextMessage
from backend.grids import LEAST_ENLARGED, LONGER_SIDE
from backend.resolution import FixedResolution, ScaledResolution, TiledResolution

QWEN_PAD = "<|image_pad|>"
QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"

QAIC_QWEN_PROMPT = ExplicitPrompt(
    "<|im_start|>user\n{placeholders}{question}<|im_end|>\n<|im_start|>assistant\n",
    Placeholders(QWEN_IMAGE),
)
"""The prompt of the QAIC document, whose own example has one image."""

PARTS = PartsMessage()
"""Images and text as parts, through the processor's chat template."""

QWEN_PARTS = PartsMessage(system="You are a helpful assistant.")

NUMBERED = Placeholders("Image-{i}: <image>\n", "\n")
NUMBERED_TEXT = TextMessage(NUMBERED)
"""Numbered images in plain text, through the tokenizer's chat template."""

MISTRAL_PROMPT = ExplicitPrompt("<s>[INST]{question}\n{placeholders}[/INST]", Placeholders("[IMG]"))
"""Images come behind the question."""

HEIGHTS, WIDTHS = (364, 512, 728), (532, 910, 1280)
"""Compiled resolutions of the QAIC document's dynamic-resolution example, in pixels."""

# vLLM's example has another variant of its Qwen2 rows, for whoever has qwen-vl-utils: pictures of
# at most 1024 x 28 x 28 pixels and a context of 4096. Here that would be `max_tokens=1024`.
QWEN2 = DynamicResolution(patch=14, merge=2)
QWEN3 = DynamicResolution(patch=16, merge=2)

CLIP_336 = FixedResolution(336, 336, 576, crops=True)
GEMMA3_896 = FixedResolution(896, 896, 256)
INTERNVL = TiledResolution(tile=448, tokens=256, max_tiles=12)
INTERNVL_4 = TiledResolution(tile=448, tokens=256, max_tiles=4)
"""As `max_dynamic_patch` of 4 has it."""

COMMAND_A = TiledResolution(tile=512, tokens=256, max_tiles=12, rule=LEAST_ENLARGED)
IDEFICS3 = TiledResolution(tile=364, tokens=169, max_tiles=2, rule=LONGER_SIDE)
"""As `size` of 2 x 364 pixels has it."""
SMOLVLM = TiledResolution(tile=384, tokens=81, max_tiles=4, rule=LONGER_SIDE)

PIXTRAL = ScaledResolution(longest=1024, factor=16)
MISTRAL3 = ScaledResolution(longest=1540, factor=28)
"""Patches of 14 pixels, two by two."""

LLAVA_NEXT = AnyResolution(tile=336, patches=24, grids=((1, 2), (2, 1), (2, 2), (3, 1), (1, 3)))
LLAVA_ONEVISION = AnyResolution(
    tile=384,
    patches=27,
    grids=tuple((rows, columns) for rows in range(1, 7) for columns in range(1, 7)),
    most=9,
)
