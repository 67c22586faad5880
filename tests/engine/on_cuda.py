"""Whether the split answers as one engine does on a GPU; run by hand, where there is one.

    python -m tests.engine.on_cuda demo qwen3_vl llava:float32 ...

One line of JSON for each model, after whose name a number type may stand. A GPU machine need not
have the packages of the other tests.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from backend.engines import loader
from backend.engines.environment import prepare_environment
from backend.plan import Plan
from backend.service import Bifocal
from backend.settings import read_settings
from backend.types import ImageInput
from tests.engine.asking import ask, question, saved
from tests.engine.families.table import FAMILIES

CHOSEN = ([], [0], [1], [0, 1], [1, 0])
"""Which pictures each question is about."""
DEMO = "demo"
TOKENS = {DEMO: 48}
"""Of a demo model's answers; tiny ones' are 12."""


async def started(**settings: object) -> Bifocal:
    """A backend whose engines are ready, both on GPU 0."""
    chosen = {"target": "cuda", "vision_devices": "0", "language_devices": "0", "kv_cache_mb": 512}
    backend = Bifocal(read_settings({**chosen, **settings}))
    prepare_environment(backend.plan, os.environ)
    backend.start()
    await backend.ready()
    return backend


def pictures(folder: Path) -> list[ImageInput]:
    """Two pictures of other sizes and other content."""
    disc = Image.new("RGB", (96, 64), "white")
    ImageDraw.Draw(disc).ellipse((10, 10, 50, 50), fill="red")
    ramp = Image.linear_gradient("L").resize((120, 128)).convert("RGB")
    return [saved(folder, "disc.png", disc), saved(folder, "ramp.png", ramp)]


def start_eagerly() -> None:
    """Compile nothing: it takes minutes, and is the same for every model of a family."""
    arguments = loader.engine_args

    def eager(plan: Plan) -> dict[str, dict[str, Any]]:
        return {role: {**args, "enforce_eager": True} for role, args in arguments(plan).items()}

    loader.engine_args = eager


def settings_of(name: str, folder: Path) -> dict[str, Any]:
    """A family's tiny checkpoint, built now, or the bundled model."""
    if name == DEMO:
        return {}
    (family,) = (family for family in FAMILIES if family.name == name)
    folder.mkdir()
    family.build(folder)
    start_eagerly()
    return {"ctx_len": 1024, **family.settings, "model": str(folder)}


async def compare(name: str) -> dict[str, Any]:
    """Every question to both; the answers where they differ."""
    with tempfile.TemporaryDirectory() as folder:
        shown = pictures(Path(folder))
        family, _, dtype = name.partition(":")
        chosen = settings_of(family, Path(folder, "model")) | ({"dtype": dtype} if dtype else {})
        split = await started(**chosen)
        fused = await started(**chosen, topology="fused")
        told: dict[str, Any] = {"model": name, "questions": len(CHOSEN), "differ": []}
        texts = []
        for some in CHOSEN:
            asked = question("Describe it.", [shown[i] for i in some], TOKENS.get(family, 12))
            halves, whole = await ask(split, asked), await ask(fused, asked)
            texts.append(whole.text)
            if (halves.text, halves.usage) != (whole.text, whole.usage):
                told["differ"].append({"pictures": some, "split": halves.text, "fused": whole.text})
        await asyncio.gather(split.shutdown(), fused.shutdown())
    return {**told, "distinct_answers": len(set(texts)), "answers": texts}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(asyncio.run(compare(name))), flush=True)
