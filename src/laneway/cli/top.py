"""`laneway top`: lanes as they move. Without a terminal it is one look."""

import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from laneway.console.remote import LANE_HEAD, Output, aligned, lane_row, remote
from laneway.core.errors import LanewayError
from laneway.core.text import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from laneway.client.blocking import Client
    from laneway.wire.values import Lane

LANES_READ_MAX = 10_000
"""With more lanes a look takes seconds; the sums then say that they are of the first ones."""
RATE_S = 10.0
"""The rate is of the last ten seconds: steady enough to read, quick enough to follow."""


class Look(Struct, frozen=True):
    """One look at all lanes."""

    lanes: int
    waiting: int
    running: int
    executed: int
    stuck: int
    """Halted, tripped or recovering."""
    per_second: float | None
    """None at the first look."""


class Rate:
    """Executions a second, from the looks of the last while."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def at(self, now_s: float, executed: int) -> float | None:
        self._seen.append((now_s, executed))
        while len(self._seen) > 2 and now_s - self._seen[1][0] >= RATE_S:
            self._seen.popleft()
        then_s, before = self._seen[0]
        # A server that was changed for another has another count.
        return None if now_s <= then_s else max(0, executed - before) / (now_s - then_s)


@click.command()
@click.option(
    "--every", type=click.FloatRange(0.1, 60), default=1.0, show_default=True, help="Seconds."
)
@click.option("--once", is_flag=True, help="One look, as without a terminal.")
@remote
def top(client: "Client", output: Output, every: float, once: bool) -> None:
    """Watch lanes live: depth, running, rate.

    The busiest stand first. Ctrl-C ends it. Without a terminal, or with --json, it is one look.
    """
    if once or output.as_json or not sys.stdout.isatty():
        found, look = look_at(client, Rate())
        output.value(look, summary(look), *table(found))
        return
    with suppress(KeyboardInterrupt):  # That is how one leaves.
        watch(client, every)


def look_at(client: "Client", rate: Rate) -> tuple[list["Lane"], Look]:
    found = list(islice(client.lanes(), LANES_READ_MAX))
    executed = sum(lane.queue.executed for lane in found)
    look = Look(
        lanes=len(found),
        waiting=sum(lane.waiting for lane in found),
        running=sum(lane.running for lane in found),
        executed=executed,
        stuck=sum(lane.state in ("halted", "tripped", "recovering") for lane in found),
        per_second=rate.at(time.monotonic(), executed),
    )
    return sorted(found, key=busy), look


def busy(lane: "Lane") -> tuple[bool, int, str]:
    """What needs a person first, then the deepest."""
    return lane.state not in ("halted", "tripped"), -(lane.waiting + lane.running), lane.id


def summary(look: Look) -> str:
    rate = "" if look.per_second is None else f" · {look.per_second:.1f}/s"
    first = "first " if look.lanes == LANES_READ_MAX else ""
    return (
        f"{first}{look.lanes} lanes · {look.waiting} waiting · {look.running} running · "
        f"{look.executed} executed{rate} · {look.stuck} stuck"
    )


def table(found: Sequence["Lane"]) -> list[str]:
    return aligned([LANE_HEAD, *(lane_row(lane) for lane in found)])


def watch(client: "Client", every_s: float) -> None:
    from rich.console import Console
    from rich.live import Live

    console, rate = Console(), Rate()
    drawn: RenderableType = ""
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            try:
                found, look = look_at(client, rate)
                drawn = picture(found, look, console.height)
                live.update(drawn, refresh=True)
            except LanewayError as error:
                # A restart is something to watch, too.
                live.update(trouble(drawn, str(error)), refresh=True)
            time.sleep(every_s)


def picture(found: Sequence["Lane"], look: Look, height: int) -> "RenderableType":
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    lanes = Table(*LANE_HEAD, expand=True)
    for column in lanes.columns[2:6]:
        column.justify = "right"
    for lane in found[: max(1, height - 6)]:
        lanes.add_row(
            *(Text(printable(cell)) for cell in lane_row(lane)), style=STYLES.get(lane.state, "")
        )
    return Group(Text(summary(look), style="bold"), lanes)


def trouble(drawn: "RenderableType", problem: str) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    return Group(Text(printable(problem), style="bold red"), drawn)


STYLES = {
    "running": "green",
    "halted": "bold red",
    "tripped": "red",
    "recovering": "yellow",
    "backing off": "yellow",
    "paused": "cyan",
    "draining": "cyan",
    "idle": "dim",
}
