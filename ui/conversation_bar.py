"""The bar above the transcript: which conversation is shown, the others, export and import.

What it lists is in the browser's own storage, so its script draws it (`assets/conversations.js`).
Gradio's `BrowserState` would hold all conversations as one value: every answer would send all of
them both ways, two tabs would overwrite each other's, and a full storage would go unnoticed.
"""

from __future__ import annotations

import gradio as gr

BAR = """
<p class="bf-notice" role="status" data-notice hidden></p>
<div class="bf-talks" role="group" aria-label="Conversations">
<details class="bf-menu" data-menu="list"><summary>Conversations <b data-count></b></summary>
<div class="bf-sheet">
<ul data-list aria-label="Conversations in this browser"></ul>
<p data-none>No conversation is kept yet.</p>
<label class="bf-file">Import a JSON file<input type="file" accept=".json,application/json"></label>
<p class="bf-where">Kept in this browser alone, with small copies of the pictures.</p>
</div></details>
<span class="bf-title" data-title></span>
<button type="button" data-do="begin">New</button>
<details class="bf-menu bf-end"><summary>Export</summary>
<div class="bf-sheet">
<button type="button" data-do="markdown">Markdown, to read</button>
<button type="button" data-do="json">JSON, to import again</button>
<p class="bf-where">With small copies of the pictures: to go on from an import, add them again.</p>
</div></details>
</div>
"""


def conversation_bar(script: str) -> gr.HTML:
    """The bar; its value is what the server tells the script, its events are the script's."""
    return gr.HTML(
        "",
        html_template=BAR,
        js_on_load=script,
        elem_id="bf-library",
        apply_default_css=False,
    )
