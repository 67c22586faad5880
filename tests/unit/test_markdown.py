"""Untrusted Markdown: markup shows as text, pictures are not loaded, code and formulas stay."""

import pytest

from ui.markdown import plain_markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", "a &lt; b"),
        ("<script>x</script>", "&lt;script>x&lt;/script>"),
        ("![spy](http://x/y.png)", "&#33;[spy](http://x/y.png)"),
        ("![spy][1]", "&#33;[spy][1]"),
        ("wow! [link](http://x)", "wow! [link](http://x)"),
        ("**bold** and | a | table |", "**bold** and | a | table |"),
        ("`a < b` < c", "`a < b` &lt; c"),
        ("```cpp\nList<int> x;\n```\n<b>", "```cpp\nList<int> x;\n```\n&lt;b>"),
        ("~~~\n<b>\n~~~\n<i>", "~~~\n<b>\n~~~\n&lt;i>"),
        (r"\(a < b\) < c", r"\(a < b\) &lt; c"),
        ("$$a < b$$ < c", "$$a < b$$ &lt; c"),
        (r"\[a < b\]<i>", r"\[a < b\]&lt;i>"),
        ("```\nunfinished <b>", "```\nunfinished <b>"),
        ("``` mermaid\ngraph TD\n```", "```text\ngraph TD\n```"),
        ("```mermaid\ngraph TD\n```", "```text\ngraph TD\n```"),
        ("a mermaid swims", "a mermaid swims"),
    ],
)
def test_plain_markdown(text: str, expected: str) -> None:
    assert plain_markdown(text) == expected
