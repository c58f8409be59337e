"""Steps of the reactor: it is told something and orders something, as in the shell."""

from typing import assert_never

import msgspec
from msgspec import Struct
from tests.small_scope.copies import copied
from tests.small_scope.limits import TURNS_MAX
from tests.small_scope.messages import (
    Asking,
    Claiming,
    CommitWritten,
    Doubted,
    Entered,
    HostAnswer,
    Leaving,
    Loaded,
    Message,
    Pump,
    Releasing,
    ScopePage,
    Told,
    Writing,
)
from tests.small_scope.parts import LANE, Mail, Part, ScopeParts

from laneway.core.ids import Owner
from laneway.core.rows import Result
from laneway.engine import orders
from laneway.engine.limits import READY_PAGE
from laneway.engine.reactor import Reactor
from laneway.engine.run import Windows
from laneway.lanes.kind import LaneKind
from laneway.ports import Commit
from laneway.sim.world import LawBroken
from laneway.stores.memory import MemoryBook

replace = msgspec.structs.replace


class Turn(Struct, frozen=True):
    """What came of a step of the reactor."""

    reactor: Part[Reactor]
    mail: tuple[Mail, ...]
    results: tuple[Result, ...] = ()
    """What callers are told now."""


class Turns:
    """Steps of the reactor, each made once."""

    def __init__(self, parts: ScopeParts, kind: LaneKind, windows: Windows, *, lazy: bool) -> None:
        self._parts = parts
        self._kinds = {"contract": kind}
        self._windows = windows
        self._lazy = lazy
        self.pump_mail = parts.mail(Pump())

    def boot(self, book: Part[MemoryBook], owner: Owner, now_ms: int) -> Turn:
        """What a start does: take up every lane that has work."""
        return book.step(("boot", owner, now_ms), lambda: self._boot(book.value, owner, now_ms))

    def _boot(self, book: MemoryBook, owner: Owner, now_ms: int) -> Turn:
        reactor = Reactor(self._kinds, owner, self._windows)
        for lane in book.ready(now_ms, None, READY_PAGE):
            reactor.woken(lane)
        return self._pump(reactor, now_ms)

    def tell(self, part: Part[Reactor], mail: Mail, now_ms: int) -> Turn:
        """Tell it a message; its turn comes at once, or (lazy) as a message of its own."""
        message = mail.value
        assert isinstance(message, Told)
        return part.step(mail, lambda: self._tell(copied(part.value), message, now_ms))

    def pump(self, part: Part[Reactor], now_ms: int) -> Turn:
        return part.step(now_ms, lambda: self._pump(copied(part.value), now_ms))

    def _tell(self, reactor: Reactor, message: Told, now_ms: int) -> Turn:
        match message:
            case Entered(arrival=arrival, seq=seq):
                if not reactor.handed(arrival, seq):
                    reactor.woken(LANE, arrival.priority)
            case Loaded(lease=lease, rows=rows):
                if rows is None:
                    reactor.open_failed(lease.lane, now_ms)
                else:
                    reactor.opened(lease, rows)
            case ScopePage(lease=lease, page=page):
                reactor.backlog_read(lease, page)
            case CommitWritten(lease=lease, version=version):
                if version is None:
                    reactor.commit_refused(lease)
                else:
                    reactor.committed(lease, version)
            case Doubted(lease=lease):
                reactor.commit_unknown(lease)
            case HostAnswer(event=event):
                reactor.answered(LANE, replace(event, now_ms=now_ms))
            case _:
                assert_never(message)
        if not self._lazy:
            return self._pump(reactor, now_ms)
        due = reactor.has_work() or reactor._orders
        return Turn(self._parts.keep(reactor, now_ms), (self.pump_mail,) if due else ())

    def _pump(self, reactor: Reactor, now_ms: int) -> Turn:
        mail: list[Mail] = []
        results: list[Result] = []
        for _ in range(TURNS_MAX):
            for order in reactor.orders(now_ms):
                if isinstance(order, orders.CommitDone):
                    results += order.results
                else:
                    mail.append(self._parts.mail(ordered(order)))
            if not reactor.has_work():
                return Turn(self._parts.keep(reactor, now_ms), tuple(mail), tuple(results))
        raise LawBroken(f"no spinning: {TURNS_MAX} turns in a row, and still work")


def ordered(order: orders.Order) -> Message:
    """The message that an order sets out as."""
    match order:
        case Commit():
            return Writing(order)
        case orders.Perform(effect=effect, fence=fence):
            return Leaving(effect, fence)
        case orders.ReadBacklog():
            return Asking(order)
        case orders.Open(lane=lane):
            return Claiming(lane)
        case orders.Release(lease=lease):
            return Releasing(lease)
        case orders.Stopped(error=error):
            raise LawBroken(f"the lane was stopped by a bug: {error!r}")
        case orders.ReadMailbox() | orders.CommitDone() | orders.Revived():
            raise AssertionError(f"nothing here is ordered by {order}")
        case _:
            assert_never(order)
