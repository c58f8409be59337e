"""Shared by commands that call a server: its address, how they print, how they end."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import click
from msgspec import Struct

from laneway.client.bodies import NO_REASON
from laneway.console.exits import EXIT_FAILED
from laneway.console.printing import say, say_json
from laneway.wire.values import Action

if TYPE_CHECKING:
    from laneway.client.blocking import Client as Client  # noqa: PLC0414
    from laneway.client.blocking import SentTx as SentTx  # noqa: PLC0414
    from laneway.wire.values import Lane, Tx, WebhookAction

T = TypeVar("T")

RETRY_S = 5.0
"""At a terminal somebody waits; the library, which nobody watches, tries longer."""


class Output:
    """Prints JSON Lines for programs, text for people."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def value(self, value: Struct, *lines: str) -> None:
        if self.as_json:
            say_json(value)
            return
        for line in lines:
            say(line)

    def action(self, action: "Action | WebhookAction") -> None:
        head = {"would": "would: ", "told": "told, not followed yet: ", "done": ""}
        target = action.lane if isinstance(action, Action) else action.webhook
        self.value(action, f"{target.id}: {head[action.outcome]}{action.effect}")

    def facts(self, value: Struct, facts: Sequence[tuple[str, object]]) -> None:
        """A name and a value on each line; what is not known is left out."""
        lines = [f"{name:<13} {text}" for name, text in facts if text not in (None, "")]
        self.value(value, *lines)

    def table(
        self, values: Iterable[T], head: Sequence[str], row: Callable[[T], Sequence[str]]
    ) -> None:
        """JSON goes out as it comes; a table has to know its widths first."""
        if self.as_json:
            for value in values:
                say_json(value)
            return
        rows = [row(value) for value in values]
        for line in aligned([head, *rows]):
            say(line)


def remote(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command a client and an output as its first arguments."""

    @click.option("--json", "as_json", is_flag=True, help="JSON Lines: one object a line.")
    @click.option("--url", metavar="URL", help="Default: LANEWAY_URL, or http://127.0.0.1:8547.")
    @click.option("--api-key-file", metavar="FILE", help="Default: LANEWAY_API_KEY_FILE.")
    @click.option(
        "--retry-s",
        type=click.FloatRange(0),
        default=RETRY_S,
        show_default=True,
        help="How long to try again while the server cannot be reached.",
    )
    @wraps(command)
    def run(
        url: str | None, api_key_file: str | None, as_json: bool, retry_s: float, **others: object
    ) -> T:
        from laneway.client.blocking import Client

        with Client(url, api_key_file=api_key_file, retry_s=retry_s) as client:
            return command(client, Output(as_json), **others)

    return run


def reasoned(command: Callable[..., T]) -> Callable[..., T]:
    """An operator's command says why, and can be tried without doing anything."""
    command = click.option("--dry-run", is_flag=True, help="Show what would happen.")(command)
    return click.option(
        "--reason", default=NO_REASON, show_default=True, help="Kept with what it did."
    )(command)


def newest(command: Callable[..., T]) -> Callable[..., T]:
    """How many of a long list are shown; `last_of` leaves the others out."""
    return click.option(
        "--last",
        type=click.IntRange(0),
        default=50,
        show_default=True,
        help="How many, the newest at the end; 0 is all.",
    )(command)


def last_of(found: Iterable[T], last: int) -> Iterable[T]:
    return deque(found, last) if last else found


def ended(txs: Iterable["Tx"]) -> int:
    """0 when all are confirmed; any other end is a failure."""
    return 0 if all(tx.status == "confirmed" for tx in txs) else EXIT_FAILED


def lane_row(lane: "Lane") -> Sequence[str]:
    oldest = "" if lane.oldest_waiting_ms is None else age(lane.oldest_waiting_ms)
    counts = (str(lane.waiting), str(lane.running), oldest, str(lane.queue.executed))
    return (lane.id, lane.state, *counts, lane_why(lane))


def lane_why(lane: "Lane") -> str:
    """Of a pause also who and when, so that nobody takes it for a failure."""
    since = "" if lane.since is None else f", since {lane.since:%Y-%m-%d %H:%M}Z"
    return f"{lane.reason} (by {lane.by}{since})" if lane.by else lane.reason


LANE_HEAD = ("lane", "state", "waiting", "running", "oldest", "executed", "why")


def age(ms: int) -> str:
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000} min" if ms < 7_200_000 else f"{ms // 3_600_000} h"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of one width; those with numbers are flush right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    right = [
        len(rows) > 1 and all(row[place][:1].isdigit() or not row[place] for row in rows[1:])
        for place in range(len(widths))
    ]
    return [
        "  ".join(
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in rows
    ]
