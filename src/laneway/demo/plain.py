"""The demo where nobody watches live: lines for a log, or one JSON object for a script."""

import sys
from time import monotonic
from typing import TextIO

from laneway.console.printing import say, say_json
from laneway.demo.texts import (
    HEAD,
    PAYMENTS_HEAD,
    cells,
    direct_line,
    kill_line,
    naive_line,
    node_line,
    payment_cells,
    plan_line,
    progress_line,
    stay_lines,
    verdict_lines,
)
from laneway.demo.values import (
    DemoPlan,
    DemoSnapshot,
    DemoVerdict,
    Direct,
    Kill,
    Naive,
    Surroundings,
)

LINE_EVERY_S = 1.0


class PlainView:
    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._begun_s = monotonic()
        self._said_s = 0.0
        self._plan = DemoPlan()

    def began(
        self,
        plan: DemoPlan,
        contracts: list[str],  # noqa: ARG002
        accounts: list[str],  # noqa: ARG002
    ) -> None:
        self._plan = plan
        self._say(plan_line(plan))

    def node(self, name: str) -> None:
        self._say(node_line(self._plan, name))

    def direct(self, direct: Direct) -> None:
        self._say(direct_line(direct))

    def naive(self, naive: Naive) -> None:
        self._say(naive_line(naive))

    def moved(self, snapshot: DemoSnapshot) -> None:
        if snapshot.at_s - self._said_s >= LINE_EVERY_S:
            self._said_s = snapshot.at_s
            self._say(progress_line(snapshot))

    def killed(self, kill: Kill) -> None:
        self._say(kill_line(kill))

    def ended(self, verdict: DemoVerdict) -> None:
        self._print("")
        for line in table(HEAD, cells(verdict)):
            self._print(line)
        if verdict.payments:
            self._print("")
            for line in table(PAYMENTS_HEAD, payment_cells(verdict)):
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
        say(line, file=self._stream)


class JsonView(PlainView):
    """Progress goes to stderr, the verdict alone to stdout."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def ended(self, verdict: DemoVerdict) -> None:
        body = {
            "ok": verdict.is_right(),
            "sent": verdict.sent,
            "on_chain": verdict.on_chain,
            "verdict": verdict,
        }
        say_json(body)


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """A table in plain text: the name on the left, everything else on the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = []
    for row in (head, *rows):
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((first, *rest)))
    return lines
