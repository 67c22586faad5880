"""What travels from the vision engine to the language engine, and the checks on the way.

An image is rendered once, alone, by the vision engine's processor: that gives the placeholder
tokens it takes in a prompt, and fields such as the grid that the decoder needs for positions. The
decoder gets the same tokens and fields, with the pixels left out and the tower's rows put in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from vllm.inputs.engine import MultiModalInput, TokensInput, mm_input, tokens_input
from vllm.multimodal.inputs import (
    MultiModalBatchedField,
    MultiModalFieldElem,
    MultiModalKwargsItem,
    MultiModalKwargsItems,
    PlaceholderRange,
)

from backend.engines.language_only import ROWS
from backend.engines.protocols import PreparedImage
from backend.engines.seams import Seams, join
from backend.errors import EngineError
from backend.prompts import ImageSlot, Prompt
from backend.types import Embedding

if TYPE_CHECKING:
    from vllm.renderers import BaseRenderer

PIXEL_FIELDS = "pixel_"
"""Fields of vLLM's multimodal inputs whose names start so hold pixels, or masks over them."""


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """One image as vLLM's processor lays it out in a prompt.

    `tokens` replace the image's placeholder; `place` says which of them take rows; `fields` are the
    tensors for the model, pixels included until `without_pixels`.
    """

    tokens: tuple[int, ...]
    place: PlaceholderRange
    fields: MultiModalKwargsItem

    @classmethod
    def of(cls, rendered: MultiModalInput) -> RenderedImage:
        """The single image of a rendered prompt that holds nothing else."""
        (place,) = rendered["mm_placeholders"]["image"]
        (fields,) = rendered["mm_kwargs"]["image"]
        return cls(tuple(rendered["prompt_token_ids"]), place, fields)

    @classmethod
    async def render(
        cls, renderer: BaseRenderer, placeholder: Sequence[int], image: PreparedImage
    ) -> RenderedImage:
        """The image, as vLLM's processor renders it where its placeholder is the whole prompt."""
        prompt = {
            "prompt_token_ids": list(placeholder),
            "multi_modal_data": {"image": [image.pixels]},
            "multi_modal_uuids": {"image": [image.digest]},
        }
        (rendered,) = await renderer.render_cmpl_async([prompt])
        return cls.of(rendered)

    def without_pixels(self) -> RenderedImage:
        """The same for the decoder, which has no tower to look at pixels with."""
        kept = {
            name: field for name, field in self.fields.items() if not name.startswith(PIXEL_FIELDS)
        }
        return RenderedImage(self.tokens, self.place, MultiModalKwargsItem(kept))


def take_rows(answer: torch.Tensor, place: PlaceholderRange, width: int) -> torch.Tensor:
    """The rows of an encoder's answer, whose last row is the sum of the others.

    Raises EngineError unless they are what the decoder expects.
    """
    _check_shape(answer[:-1], place.get_num_embeds(), width)
    rows, total = answer[:-1], answer[-1]
    # The sum of finite values may overflow: one that is not finite proves nothing yet.
    if not bool(torch.isfinite(total).all()):
        _check_finite(rows)
    return rows


def check_rows(rows: torch.Tensor, expected: int | None, width: int) -> None:
    """Raises EngineError unless these rows, which come without a sum, are what the decoder expects.

    `expected` is None where nobody here knows how many an image has.
    """
    _check_shape(rows, expected, width)
    _check_finite(rows)


def _check_shape(rows: torch.Tensor, expected: int | None, width: int) -> None:
    """A wrong width kills a decoder, a wrong count goes unnoticed.

    Rows are a multiple of the hidden size wide, more than one on models with deepstack.
    """
    wrong_count = expected is not None and rows.shape[0] != expected
    if rows.ndim != 2 or wrong_count or rows.shape[1] % width:
        due = "rows" if expected is None else f"{expected} rows"
        raise EngineError(
            f"The vision encoder answered {tuple(rows.shape)} where {due} of a multiple of {width} "
            "were due; the answer was not generated."
        )


def _check_finite(rows: torch.Tensor) -> None:
    """One NaN poisons a decoder for good."""
    if not bool(torch.isfinite(rows).all()):
        raise EngineError("The vision encoder answered values that are not finite; try again.")


def decoder_input(
    prompt: Prompt, embeddings: Sequence[Embedding], seams: Seams
) -> MultiModalInput | TokensInput:
    """The prompt for the language engine: tokens, places, hashes of the content, and rows."""
    tokens: list[int] = []
    places: list[PlaceholderRange] = []
    items: list[MultiModalKwargsItem] = []
    for part in prompt.parts:
        if not isinstance(part, ImageSlot):
            join(tokens, part, seams)
            continue
        embedding = embeddings[part.index]
        image: RenderedImage = embedding.extras["rendered"]
        start = len(tokens) - join(tokens, image.tokens, seams)
        offset = start + image.place.offset
        places.append(PlaceholderRange(offset, image.place.length, image.place.is_embed))
        rows = MultiModalFieldElem(data=embedding.features, field=MultiModalBatchedField())
        items.append(MultiModalKwargsItem({**image.fields, ROWS: rows}))
    if not items:
        return tokens_input(tokens)
    hashes: list[str] = [embedding.extras["digest"] for embedding in embeddings]
    kwargs: Any = MultiModalKwargsItems({"image": items})
    return mm_input(tokens, kwargs, {"image": hashes}, {"image": places})
