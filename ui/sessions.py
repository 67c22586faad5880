"""What Gradio keeps of every session, cut down to what this app needs.

Gradio copies the configuration of every component for every session, and each call of a program is
a session: 12 ms of the event loop and 115 kB, up to ten thousand times.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Final

import gradio as gr
from gradio.state_holder import SessionState, StateHolder

from ui.disk import DAY

KEPT: Final = 1000
"""Sessions; those that were not used for longest give way. An open page uses its own all the time.
"""


class LeanSession(SessionState):  # type: ignore[misc]
    """A session whose components' configurations are written out when they change."""

    def __init__(self, blocks: gr.Blocks) -> None:
        # Configurations are made of the blocks named here, and looked up in the default one.
        super().__init__(SimpleNamespace(blocks=(), default_config=blocks.default_config))
        # A page that sleeps finds its conversation again as long as the server keeps pictures.
        self.STATE_TTL_WHEN_CLOSED = DAY


class LeanSessions(StateHolder):  # type: ignore[misc]
    """Gradio's store of sessions, with lean ones in it."""

    def __init__(self, blocks: gr.Blocks) -> None:
        super().__init__()
        self.set_blocks(blocks)
        self.capacity = KEPT

    def __getitem__(self, session: str) -> SessionState:
        if session not in self.session_data:
            self.session_data[session] = LeanSession(self.blocks)
        return super().__getitem__(session)

    def forget(self, session: str) -> None:
        """Nobody will come back for it."""
        self.session_data.pop(session, None)
        self.time_last_used.pop(session, None)
        queue = self.blocks._queue
        queue.pending_messages_per_session.pop(session, None)
        queue.pending_event_ids_session.pop(session, None)
