"""The demo on a terminal: a bar a contract and an account, the kills below, then the tables."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

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
    ContractRow,
    DemoPlan,
    DemoSnapshot,
    DemoVerdict,
    Direct,
    Kill,
    Naive,
    PaymentRow,
    Surroundings,
)


class LiveView:
    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            console=self._console,
        )
        self._tasks: dict[str, TaskID] = {}
        self._payers: dict[str, TaskID] = {}
        self._plan = DemoPlan()
        self._status = Text("the worker starts")
        self._live = Live(console=self._console, refresh_per_second=10, transient=True)

    def began(self, plan: DemoPlan, contracts: list[str], accounts: list[str]) -> None:
        self._plan = plan
        self._console.print(plan_line(plan), highlight=False)
        for contract in contracts:
            self._tasks[contract] = self._bars.add_task(
                contract, total=plan.executions, state="waiting"
            )
        for account in accounts:
            self._payers[account] = self._bars.add_task(account, total=plan.payments, state="")
        self._live.start()
        self._draw()

    def node(self, name: str) -> None:
        self._console.print(node_line(self._plan, name), highlight=False)

    def direct(self, direct: Direct) -> None:
        self._console.print(direct_line(direct), highlight=False)

    def naive(self, naive: Naive) -> None:
        self._console.print(naive_line(naive), highlight=False)

    def moved(self, snapshot: DemoSnapshot) -> None:
        for contract, task in self._tasks.items():
            running = snapshot.running[contract]
            state = "consensus round" if running else "waiting"
            self._bars.update(task, completed=snapshot.landed[contract], state=state)
        for account, task in self._payers.items():
            self._bars.update(task, completed=snapshot.paid.get(account, 0), state="payments")
        self._status = Text(progress_line(snapshot))
        self._draw()

    def killed(self, kill: Kill) -> None:
        self._console.print(Text(kill_line(kill), style="bold red"))

    def ended(self, verdict: DemoVerdict) -> None:
        self.close()
        self._print_table(HEAD, cells(verdict), verdict.rows)
        if verdict.payments:
            self._print_table(PAYMENTS_HEAD, payment_cells(verdict), verdict.payments)
        style = "green" if verdict.is_right() else "bold red"
        *lines, last = verdict_lines(verdict)
        for line in lines:
            self._console.print(line, highlight=False)
        self._console.print(Text(last, style=style))

    def _print_table(
        self,
        head: tuple[str, ...],
        rows: list[tuple[str, ...]],
        judged: Sequence[ContractRow | PaymentRow],
    ) -> None:
        table = Table(*head, title="read back from the chain", title_justify="left")
        for column in table.columns[1:]:
            column.justify = "right"
        for row, right in zip(rows, judged, strict=True):
            table.add_row(*row, style="" if right.is_right() else "bold red")
        self._console.print(table)

    def stays(self, surroundings: Surroundings) -> None:
        self._console.print()
        for line in stay_lines(surroundings):
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Give the terminal back."""
        self._live.stop()

    def _draw(self) -> None:
        parts: tuple[RenderableType, ...] = (self._bars, self._status)
        self._live.update(Group(*parts))
