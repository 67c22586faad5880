"""Every family that has a tiny checkpoint."""

from tests.engine.families import gemma, idefics, internvl, llava, pixtral, qwen
from tests.engine.families.tiny import TinyFamily

FAMILIES: tuple[TinyFamily, ...] = (
    *qwen.FAMILIES,
    *llava.FAMILIES,
    *gemma.FAMILIES,
    *internvl.FAMILIES,
    *idefics.FAMILIES,
    *pixtral.FAMILIES,
)
