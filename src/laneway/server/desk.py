"""What the server asks of the running engine. The wiring implements it; tests may too."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from laneway.lanes.contract.show import QueueMetrics
from laneway.wire.cursor import BundlePlace, TxPlace
from laneway.wire.evm import EvmPayload
from laneway.wire.rollup import (
    BundlePage,
    BundleShown,
    NewRollupTx,
    Rollup,
    RollupAccount,
    RollupReceipt,
    RollupStatus,
)
from laneway.wire.values import (
    Action,
    AuditEntry,
    Check,
    DeadLetter,
    Delivery,
    Lane,
    LaneHealth,
    NewCosmosTx,
    NewEvmTx,
    NewTx,
    SettleWord,
    Tx,
    Webhook,
    WebhookAction,
)

LaneTest = Callable[[str], bool]
"""Whether a lane is one that the caller may see."""

MachineVerb = Literal["pause", "resume", "drain", "reset-nonce", "set-sequence"]
"""What a lane's machine hears of."""
LaneVerb = MachineVerb | Literal["revive"]
WebhookVerb = Literal["pause", "resume", "revive", "test"]


class Taken(Struct, frozen=True):
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
        """What concerns no lane is for those who may see them all."""
        if entry.lane is None:
            return self.lane is None and self.may_see_all
        return self.lane in (None, entry.lane) and self.may_see(entry.lane)


class Word(Struct, frozen=True, kw_only=True):
    """An operator's word: why, by whom, and whether only in thought."""

    reason: str
    by: str
    dry_run: bool = False
    mode: str = "queue"
    sequence: int | None = None
    """Of `set-sequence`; None: what the chain says."""
    tx: str | None = None
    """Of `revive`: what is put aside; None: the transaction that stopped the lane, if known."""
    keep: bool = False
    """Of `revive`: no transaction is put aside."""


class EventReader(Protocol):
    """One client's place in the feed."""

    cursor: str
    """Behind what it has read so far."""

    async def run(
        self,
        write: Callable[[bytes], bool],
        drained: Callable[[], Awaitable[None]],
        beat_s: float,
    ) -> None:
        """Write frames as they come, a heartbeat where none come for so long. A write says
        whether the client keeps up; if not, it is waited for. Ends when the client cannot
        follow, or when there is nothing more to follow here."""

    def leave(self) -> None: ...


class WebhookDesk(Protocol):
    """What the server asks about webhooks."""

    async def listed(self) -> Sequence[Webhook]: ...
    async def deliveries(
        self, webhook: str, after: TxPlace | None, limit: int
    ) -> tuple[Sequence[Delivery], TxPlace | None]:
        """An endpoint's messages, in the order in which they were accepted."""

    async def operate(self, webhook: str, verb: WebhookVerb, word: Word) -> WebhookAction: ...
    async def resend(self, webhook: str, delivery: str, word: Word) -> WebhookAction:
        """The same message once more, as a new delivery."""


class RollupDesk(Protocol):
    """What the server asks about rollups. Lanes are given by their own names."""

    def lane(self, rollup: str) -> str:
        """Of a rollup by its name or its service; LaneNotFound where there is none."""

    async def listed(self) -> Sequence[Rollup]: ...
    async def status(self, lane: str) -> RollupStatus: ...
    async def bundles(
        self, lane: str, state: str | None, after: BundlePlace | None, limit: int
    ) -> tuple[BundlePage, BundlePlace | None]:
        """Open blocks, the lowest first; then final ones, the newest first."""

    async def bundle(self, lane: str, name: str) -> BundleShown: ...
    async def receipt(self, lane: str, hash_: str) -> RollupReceipt: ...
    async def account(self, lane: str, account: str) -> RollupAccount: ...
    async def submit(self, lane: str, new: NewRollupTx, key: str | None, scope: str) -> Taken:
        """Durable when it answers; the same bytes are one transaction."""


class Desk(Protocol):
    """Every answer is durable or read from what is. Errors are LanewayErrors."""

    draining: bool
    """The process is about to end: nothing more is accepted."""

    webhooks: WebhookDesk
    rollups: RollupDesk

    def lane_name(self, lane: str) -> str:
        """The lane's own name for what people write: an account may be called by its name."""

    async def submit(
        self, new: NewTx | NewEvmTx | NewCosmosTx, key: str | None, scope: str, trace: str = ""
    ) -> Taken:
        """Durable when it answers. `trace` is a W3C traceparent, kept with it."""

    async def show(self, intent: str) -> Tx:
        """By its id; of an account also by the hash of an attempt, or `LANE#NUMBER`."""

    async def wait(self, intent: str, timeout_s: float) -> Tx:
        """The transaction once it is final, or as it stands when the time is over."""

    async def find(self, key: str, scope: str) -> Tx | None: ...
    async def listing(self, listing: Listing) -> tuple[Sequence[Tx], TxPlace | None]: ...
    async def cancel(self, intent: str, word: Word) -> Action: ...
    async def bump(self, intent: str, word: Word) -> Action:
        """A dearer attempt at the same nonce."""

    async def replace(self, intent: str, payload: EvmPayload, word: Word) -> Action:
        """Other content at the same nonce."""

    async def settle(self, intent: str, said: SettleWord, word: Word) -> Action:
        """What a person found out about an execution that halted its lane."""

    async def retry(self, intent: str, word: Word) -> Action:
        """A new transaction in the place of one that is proven dead; asked twice, the same."""

    async def lanes(self, after: str | None, limit: int, may_see: LaneTest) -> Sequence[Lane]: ...
    async def lane(self, lane: str) -> Lane: ...
    async def health(self, lane: str) -> LaneHealth: ...
    async def operate(self, lane: str, verb: LaneVerb, word: Word) -> Action: ...
    async def audit(self, listing: AuditListing) -> tuple[Sequence[AuditEntry], TxPlace | None]: ...
    async def dead_letters(
        self, after: TxPlace | None, limit: int, may_see: LaneTest
    ) -> tuple[Sequence[DeadLetter], TxPlace | None]: ...
    async def queues(self) -> Sequence[QueueMetrics]: ...
    async def checks(self) -> Sequence[Check]: ...
    async def measure(self) -> bytes:
        """All series, in Prometheus' text form."""

    async def follow(
        self, after: str | None, lane: str | None, may_see: LaneTest | None
    ) -> EventReader:
        """A reader behind this cursor (None: of what happens next), of one lane, of the lanes that
        it may see, or of all."""
