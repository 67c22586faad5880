"""Every family that has a tiny checkpoint."""

from tests.engine.families import (
    aria,
    cohere,
    gemma,
    glm,
    hunyuan,
    idefics,
    internvl,
    internvl_chat,
    llama4,
    llava,
    paddle,
    pixtral,
    qwen,
)
from tests.engine.families.tiny import TinyFamily

FAMILIES: tuple[TinyFamily, ...] = (
    *qwen.FAMILIES,
    *llava.FAMILIES,
    *gemma.FAMILIES,
    *internvl.FAMILIES,
    *internvl_chat.FAMILIES,
    *hunyuan.FAMILIES,
    *idefics.FAMILIES,
    *pixtral.FAMILIES,
    *aria.FAMILIES,
    *cohere.FAMILIES,
    *glm.FAMILIES,
    *llama4.FAMILIES,
    *paddle.FAMILIES,
)
