"""The clients of the bench's side `page`, in a process of their own.

    python -m ui.command_line.bench_clients URL CLIENTS

A line of JSON on stdin is a question, a line on stdout its answer; the first line says that all
clients are there.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from gradio_client import Client, handle_file

LOOK_S: Final = 0.02
"""Between two looks at an answer; the time of its first token is as exact."""


def main(address: str, count: int) -> None:
    """Answer questions until stdin ends; each client has one at a time."""
    clients: queue.SimpleQueue[Client] = queue.SimpleQueue()
    for _ in range(count):
        # Without the certificates that would be read anew for every call, and are not needed here.
        clients.put(Client(address, verbose=False, ssl_verify=False))
    writing = threading.Lock()

    def say(told: dict[str, Any]) -> None:
        with writing:
            print(json.dumps(told), flush=True)

    def answer(question: dict[str, Any]) -> None:
        client = clients.get()
        try:
            told = ask(client, question)
        except Exception as error:  # noqa: BLE001
            # Whatever it is, the bench must hear of it rather than wait for ever.
            told = {"error": f"{type(error).__name__}: {error}"}
        clients.put(client)
        say({"number": question["number"], **told})

    say({"clients": count})
    with ThreadPoolExecutor(count) as pool:
        for line in sys.stdin:
            pool.submit(answer, json.loads(line))


def ask(client: Client, question: dict[str, Any]) -> dict[str, Any]:
    """One question, timed from before its pictures are sent."""
    started = time.perf_counter()
    first = None
    job = client.submit(
        images=[handle_file(path) for path in question["pictures"]],
        image_urls="",
        prompt=question["text"],
        system_prompt="",
        temperature=0,
        top_p=1,
        max_tokens=question["tokens"],
        seed=0,
        api_name="/ask",
    )
    # Not `for result in job`: that asks a thousand times a second, and there are many jobs.
    while not job.done():
        time.sleep(LOOK_S)
        if first is None and any(result["text"] for result in job.outputs()[-1:]):
            first = time.perf_counter()
    result: dict[str, Any] = job.outputs()[-1] if job.exception() is None else job.result()
    ended = time.perf_counter()
    return {
        "ttft_s": (first or ended) - started,
        "total_s": ended - started,
        "tokens": result["usage"]["completion_tokens"],
        "text": result["text"],
    }


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
