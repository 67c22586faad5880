"""Who asks, as far as the web server knows."""

from __future__ import annotations

from gradio.context import LocalContext

from backend.client import Client


def visitor() -> Client:
    """The visitor whose event is being handled; nobody in particular outside of an event.

    A session is one tab of a browser or one `gradio_client`. The address is the other end of the
    connection: with a tunnel or a proxy before the app, all visitors have the same.
    """
    request = LocalContext.request.get(None)
    if request is None:
        return Client()
    peer = request.client
    return Client(request.session_hash or "", peer.host if peer else "")
