"""What is under way in a small scope, each with a line for people.

A message belongs to the process and dies with it, except what has left for the host.
"""

from typing import Any, TypeAlias, assert_never

from msgspec import Struct

from laneway.core.ids import LaneId
from laneway.core.intent import Arrival, BacklogPage
from laneway.core.rows import Lease, Rows
from laneway.engine.orders import ReadBacklog
from laneway.lanes.contract.values import Effect, Event, Execute
from laneway.ports import Commit


class Pump(Struct, frozen=True):
    """The reactor was told something, and waits for its turn."""


class Entered(Struct, frozen=True):
    """The door made an intent durable; the reactor has not heard of it."""

    arrival: Arrival
    seq: int


class Claiming(Struct, frozen=True):
    lane: LaneId


class Loading(Struct, frozen=True):
    lease: Lease


class Loaded(Struct, frozen=True):
    """The lane's rows, or None when its lease was lost."""

    lease: Lease
    rows: Rows | None


class Asking(Struct, frozen=True):
    """The store is asked for a page of the backlog."""

    order: ReadBacklog


class ScopePage(Struct, frozen=True):
    lease: Lease
    page: BacklogPage


class Writing(Struct, frozen=True):
    """A commit on its way to the store."""

    commit: Commit


class CommitWritten(Struct, frozen=True):
    """A commit's answer on its way back; None when the lease was lost."""

    lease: Lease
    version: int | None


class Doubted(Struct, frozen=True):
    """The store does not say whether the commit is durable."""

    lease: Lease


class Releasing(Struct, frozen=True):
    """An idle lane is given back to the store."""

    lease: Lease


class Leaving(Struct, frozen=True):
    """An effect that the process has not carried out yet."""

    effect: Effect
    fence: int


class HostAnswer(Struct, frozen=True):
    """The host's answer on its way back; its time will be that of its arrival."""

    event: Event


class Travelling(Struct, frozen=True):
    """An execution on its way to the host: a crash does not call it back."""

    effect: Execute
    heard: bool = True
    """Whether its caller lives and still waits for the answer."""


class Running(Struct, frozen=True):
    """A round of the host's."""

    effect: Execute
    heard: bool
    round: int
    parent: int
    crashes: bool
    told: bool


Told: TypeAlias = Entered | Loaded | ScopePage | CommitWritten | Doubted | HostAnswer
"""What reaches the reactor."""

Abroad: TypeAlias = Travelling | Running
"""What has left the process."""

Message: TypeAlias = (
    Told | Abroad | Pump | Claiming | Loading | Asking | Writing | Releasing | Leaving
)


def describe(message: Message) -> str:
    """One line for people."""
    match message:
        case Pump():
            return "the reactor takes its turn"
        case Entered(seq=seq):
            return f"the reactor hears of intent {seq}"
        case Claiming():
            return "the lane is claimed"
        case Loading(lease=lease) | Loaded(lease=lease):
            return f"the lane is loaded under fence {lease.fence}"
        case Asking(order=order):
            return f"the store reads a page behind {order.after[0]}"
        case ScopePage(page=page):
            return f"the page {[row.seq for row in page.intents]} arrives"
        case Writing(commit=commit):
            return f"commit {commit.version} under fence {commit.lease.fence} is written"
        case CommitWritten(version=None):
            return "the reactor hears that its lease was lost"
        case CommitWritten(version=version):
            return f"the reactor hears that commit {version} is durable"
        case Doubted():
            return "the reactor hears that the store does not know"
        case Releasing(lease=lease):
            return f"the lane is released under fence {lease.fence}"
        case Leaving(effect=effect):
            return f"{show(effect)} leaves the process"
        case HostAnswer(event=event):
            return f"{show(event)} arrives"
        case Travelling(effect=effect):
            return f"{show(effect)} reaches the host"
        case Running(effect=effect, round=round_, parent=parent):
            return f"round {round_} on {parent} of {show(effect)} ends"
        case _:
            assert_never(message)


def show(value: Any) -> str:
    hidden = ("payload", "now_ms", "deadline_ms")
    fields = {name: getattr(value, name) for name in value.__struct_fields__ if name not in hidden}
    said = ", ".join(f"{k}={v}" for k, v in fields.items() if v not in (None, False, ""))
    return f"{type(value).__name__}({said})"
