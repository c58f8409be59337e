"""Many transactions at once: those of one lane in their order, those of others beside them."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from laneway.cli.send import FileLine
    from laneway.client.blocking import Client, SentTx

INFLIGHT_MAX = 16
"""Lines under way at once, each on a connection of its own: as many as the client keeps open."""

PROGRESS_MIN = 100
"""A shorter file is sent before a bar could be read."""


def post_all(client: "Client", lines: list["FileLine"]) -> Iterator["SentTx"]:
    """The transactions in the order of the file, each once it and all before it are durable.

    A lane's next line leaves only when the one before it was answered: that alone keeps their
    order. What was sent when an error ends this is found again by its key.
    """
    if len(lines) == 1:
        yield post(client, lines[0])
        return
    lanes: dict[str, deque[int]] = {}
    for place, line in enumerate(lines):
        lanes.setdefault(line.lane or "", deque()).append(place)
    ready = deque(lanes)
    out: dict[Future[SentTx], str] = {}
    answered: dict[int, SentTx] = {}
    yielded = 0
    pool = ThreadPoolExecutor(min(len(lanes), INFLIGHT_MAX))
    with progress(len(lines)) as step, pool:
        try:
            while ready or out:
                while ready and len(out) < INFLIGHT_MAX:
                    lane = ready.popleft()
                    out[pool.submit(post, client, lines[lanes[lane][0]])] = lane
                for future in wait(out, return_when=FIRST_COMPLETED).done:
                    lane = out.pop(future)
                    answered[lanes[lane].popleft()] = future.result()
                    step()
                    if lanes[lane]:
                        ready.append(lane)
                while yielded in answered:
                    yield answered.pop(yielded)
                    yielded += 1
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def progress(count: int) -> Iterator[Callable[[], None]]:
    """A progress bar for a long file at a terminal; elsewhere nothing."""
    if count < PROGRESS_MIN or not sys.stderr.isatty():
        yield lambda: None
        return
    with click.progressbar(length=count, label="durable", file=sys.stderr) as bar:
        yield lambda: bar.update(1)


def post(client: "Client", line: "FileLine") -> "SentTx":
    assert line.lane is not None
    once: dict[str, Any] = {"key": line.key, "valid_until": line.valid_until}
    if line.payload is not None:
        return client.submit(line.lane, line.payload, **once)
    return client.send(line.lane, line.data, **once, **line.options())
