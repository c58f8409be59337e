"""The demo where nobody watches live: lines for a log, or one JSON object for a script."""

import sys
from time import monotonic
from typing import TextIO

import click
from msgspec import json

from laneway.cli.demo_words import (
    HEAD,
    cells,
    direct_line,
    kill_line,
    plan_line,
    progress_line,
    stay_lines,
    verdict_lines,
)
from laneway.wiring.demo_values import Direct, Kill, Plan, Snapshot, Surroundings, Verdict

LINE_EVERY_S = 1.0


class PlainView:
    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._begun_s = monotonic()
        self._said_s = 0.0

    def began(self, plan: Plan, contracts: list[str]) -> None:  # noqa: ARG002
        self._say(plan_line(plan))

    def direct(self, direct: Direct) -> None:
        self._say(direct_line(direct))

    def moved(self, snapshot: Snapshot) -> None:
        if snapshot.at_s - self._said_s >= LINE_EVERY_S:
            self._said_s = snapshot.at_s
            self._say(progress_line(snapshot))

    def killed(self, kill: Kill) -> None:
        self._say(kill_line(kill))

    def ended(self, verdict: Verdict) -> None:
        self._print("")
        for line in table(cells(verdict)):
            self._print(line)
        self._print("")
        for line in verdict_lines(verdict):
            self._print(line)

    def stays(self, surroundings: Surroundings) -> None:
        self._print("")
        for line in stay_lines(surroundings):
            self._print(line)

    def close(self) -> None:
        pass

    def _say(self, line: str) -> None:
        self._print(f"[{monotonic() - self._begun_s:5.1f}s] {line}")

    def _print(self, line: str) -> None:
        click.echo(line, file=self._stream)


class JsonView(PlainView):
    """Progress goes to stderr, the verdict alone to stdout."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def ended(self, verdict: Verdict) -> None:
        body = {
            "ok": verdict.is_right(),
            "sent": verdict.sent,
            "on_chain": verdict.on_chain,
            "verdict": verdict,
        }
        click.echo(json.encode(body))


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """The table in plain text: the name on the left, everything else on the right."""
    widths = [max(len(row[column]) for row in (HEAD, *rows)) for column in range(len(HEAD))]
    lines = []
    for row in (HEAD, *rows):
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((first, *rest)))
    return lines
