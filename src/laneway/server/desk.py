"""What the server asks of the running engine. The wiring implements it; tests may too."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from laneway.wire.cursor import TxPlace
from laneway.wire.values import Action, AuditEntry, Check, DeadLetter, Lane, LaneHealth, Tx

LaneTest = Callable[[str], bool]
"""Whether a lane is one that the caller may see."""


class TakenTransaction(Struct, frozen=True):
    """A durable transaction; `replayed` when its key and body came before."""

    tx: Tx
    replayed: bool


class Listing(Struct, frozen=True, kw_only=True):
    lane: str | None
    status: str | None
    after: TxPlace | None
    limit: int
    may_see: LaneTest


class AuditListing(Struct, frozen=True, kw_only=True):
    lane: str | None
    after: TxPlace | None
    limit: int
    may_see: LaneTest
    may_see_all: bool

    def fits(self, entry: AuditEntry) -> bool:
        """Whether it is listed; an entry of no lane is for callers who may see all lanes."""
        if entry.lane is None:
            return self.lane is None and self.may_see_all
        return self.lane in (None, entry.lane) and self.may_see(entry.lane)


class OperatorReason(Struct, frozen=True, kw_only=True):
    """An operator's command: why, by whom, and whether it is a dry run."""

    reason: str
    by: str
    dry_run: bool = False
    mode: str = "queue"
    tx: str | None = None
    """For `revive`: what is put aside; None: the transaction that stopped the lane, if known."""
    keep: bool = False
    """Of `revive`: no transaction is put aside."""


class EventReader(Protocol):
    """One client's place in the feed."""

    cursor: str
    """The place after the last event that it has read."""

    async def run(
        self, write: Callable[[bytes], bool], drained: Callable[[], Awaitable[None]], beat_s: float
    ) -> None:
        """Write frames as they come, and a heartbeat after `beat_s` without one. `write` returns
        whether the client keeps up; if not, `drained` is awaited. Ends when the client cannot
        follow, or when there is nothing more to follow here."""

    def leave(self) -> None: ...


class Desk(Protocol):
    """Every answer is durable or read from what is. Errors are LanewayErrors."""

    draining: bool
    """The process is about to end: nothing more is accepted."""

    def part(self, kind: str) -> Any:
        """The methods that the routes of one kind of lane call."""

    def body(self, kind: str) -> type[Struct]:
        """The type of a request for lanes of this kind; for an unknown one, the most common."""

    def is_large(self, lane: str) -> bool:
        """Whether requests for this lane may be larger than others."""

    def lane_name(self, lane: str) -> str:
        """The lane's own name for what people write: an account may be called by its name."""

    async def submit(
        self, new: Any, key: str | None, scope: str, trace: str = ""
    ) -> TakenTransaction:
        """Durable when it answers. `trace` is a W3C traceparent, kept with it."""

    async def show(self, intent: str) -> Tx:
        """By its id; of an account also by the hash of an attempt, or `LANE#NUMBER`."""

    async def explained(self, tx: Tx) -> Tx:
        """The same with what only its chain can say of it; briefly asked."""

    async def wait(self, intent: str, timeout_s: float) -> Tx:
        """The transaction once it is final, or as it stands when the time is over."""

    async def find(self, key: str, scope: str) -> Tx | None: ...
    async def listing(self, listing: Listing) -> tuple[Sequence[Tx], TxPlace | None]: ...
    async def command(
        self, intent: str, verb: str, reason: OperatorReason, argument: Any = None
    ) -> Action:
        """An operator's command about one transaction."""

    async def retry(self, intent: str, reason: OperatorReason) -> Action:
        """A new transaction in the place of one that is proven dead; asked twice, the same."""

    async def lanes(self, after: str | None, limit: int, may_see: LaneTest) -> Sequence[Lane]: ...
    async def lane(self, lane: str) -> Lane: ...
    async def health(self, lane: str) -> LaneHealth: ...
    async def operate(
        self, lane: str, verb: str, reason: OperatorReason, argument: Any = None
    ) -> Action: ...
    async def dead_letters(
        self, after: TxPlace | None, limit: int, may_see: LaneTest
    ) -> tuple[Sequence[DeadLetter], TxPlace | None]: ...
    async def checks(self) -> Sequence[Check]: ...
    async def measure(self) -> bytes:
        """All series, in Prometheus' text form."""

    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> EventReader:
        """A reader of the events after this cursor (None: of what happens next), of one lane, of
        the lanes that it may see, or of all."""
