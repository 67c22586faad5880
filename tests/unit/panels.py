"""The bucket panel as a test reads it: its words, its tags, and images placed by hand."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser

from backend.buckets import DynamicResolution, choose, compile_buckets
from backend.placement import Fit, PlacedImage, Placement
from backend.types import ImageInput
from ui.buckets import panel
from ui.session import Attachment

QWEN2_5 = DynamicResolution(patch=14)
BUCKETS = compile_buckets((364, 512, 728), (532, 910, 1280), QWEN2_5)
TIMES = "\N{MULTIPLICATION SIGN}"
VOID = {"input", "img", "br"}


class Text(HTMLParser):
    """The words of a page, and every start tag with its attributes; tags must be balanced."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words)).replace(TIMES, "x")

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def item(placement: Placement, height: int, width: int, name: str = "cat.png") -> Attachment:
    placed = PlacedImage(name, width, height, f"sha of {name}", placement)
    return Attachment(ImageInput(name, "upload"), placed, "data:image/webp;base64,AAAA")


def chosen(height: int, width: int, fit: Fit = "stretch", name: str = "cat.png") -> Attachment:
    return item(choose(height, width, BUCKETS, QWEN2_5, fit), height, width, name)


def drawn(items: Sequence[Attachment], ctx_len: int = 16384, **options: object) -> Text:
    return Text(panel(items, ctx_len, **options))  # type: ignore[arg-type]


def styles(given: Attachment) -> list[str]:
    frames = drawn([given]).of("span")
    return [str(f["style"]) for f in frames if "bf-frame" in str(f.get("class"))]
