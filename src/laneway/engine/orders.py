"""What the reactor orders its driver to do. Nothing here acts.

`Commit`, one of them, stands with the store's port: answer it with `committed`, or with one of
`commit_refused`, `commit_unknown` and `commit_busy`.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Cursors, Lease, Result
from laneway.ports import Commit


class Open(Struct, frozen=True):
    """Claim the lane and load its rows; answer with `opened` or `not_opened`."""

    lane: LaneId


class ReadBacklog(Struct, frozen=True):
    """Answer with `backlog_read`."""

    lease: Lease
    after: Cursors
    limit: int


class ReadMailbox(Struct, frozen=True):
    """Answer with `mailbox_read`."""

    lease: Lease


class Perform(Struct, eq=False, gc=False):
    """Do it, and answer with `answered`. It is durable that this was decided."""

    lane: LaneId
    effect: Any
    fence: int = 0
    """Of the lease it was decided under: once that is not ours any more, it is not ours to do."""


Prompt: TypeAlias = Callable[[LaneId, list[Any], int], tuple[Any | None, list[Any]]]
"""Answers the effects of a turn that take no time and ask nobody, such as signing with a key that
is held here: the event, if there is one, and the effects that are left."""


class CommitDone(Struct, frozen=True):
    """A commit is durable: these records became true, these intents are final."""

    lane: LaneId
    records: Sequence[Any]
    results: Sequence[Result]


class Release(Struct, frozen=True):
    lease: Lease


class Stopped(Struct, frozen=True):
    """An invariant of this lane is broken. It is given back, and not opened again here before it
    is revived."""

    lane: LaneId
    error: Exception
    doing: Any = None
    """What it was about: an event, a command's event or an effect; None: its rows alone."""
    intents: tuple[IntentId, ...] = ()
    """Whose intents stand in that."""
    version: int = 0
    """Of the lane when it was stopped."""


class Revived(Struct, frozen=True):
    """A person put aside what had stopped this lane: it goes on."""

    lane: LaneId


Question: TypeAlias = Open | ReadBacklog | ReadMailbox | Release
"""What the store is asked, besides the commits."""

Order: TypeAlias = Question | Commit | Perform | CommitDone | Stopped | Revived
