"""What the engine asks of the world. Adapters on the left implement these; nothing here acts."""

from asyncio import Future
from collections.abc import AsyncIterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from laneway.core.cosmos import CosmosLook, GasSeen, Offered, TxSeen
from laneway.core.errors import LeaseLost
from laneway.core.facts import (
    AccountSeen,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Estimated,
    FeesSeen,
    NonceOwner,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    Sent,
)
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Answer, Arrival, BacklogPage, IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import (
    Command,
    Cursors,
    FeedEntry,
    Index,
    LaneView,
    Lease,
    Result,
    Rows,
    Write,
)
from laneway.core.units import Amount

if TYPE_CHECKING:
    # The curve is an extra (`evm`); contracts need none of it.
    from laneway.evm.secp256k1 import Signature


class Alive(Struct, frozen=True):
    """The heartbeat was written; the owner may act until its own clock says otherwise."""

    peers: tuple[Owner, ...] = ()
    """Everyone whose heart beats, the owner included, sorted by name."""


class Lost(Struct, frozen=True):
    """Someone declared this owner dead. It must stop, and start again under a new name."""


class IntentView(Struct, frozen=True):
    """All the store knows of one intent."""

    intent: IntentRow
    result: Result | None
    open: bool
    """Whether an open row names it (it has a slot, or was returned)."""


class Woken(Struct, frozen=True):
    """Another process left something for this lane."""

    lane: LaneId
    told: bool = False
    """Whether it was a command, and not an intent."""


class Ended(Struct, frozen=True):
    """Another process committed final answers of this lane."""

    lane: LaneId


News: TypeAlias = Woken | Ended
"""What other processes did: a hint to look, which may come late, twice or not at all."""


class Commit(Struct, frozen=True):
    """One lane's next write. Lanes share the sync; a lost lease refuses that lane alone."""

    lease: Lease
    version: int
    write: Write


class Durability(Enum):
    """What survives: a power cut, most power cuts, or not even the end of the process."""

    FULL = "full"
    RELAXED = "relaxed"
    MEMORY = "memory"


class Store(Protocol):
    """Rows that outlive the process. See ARCHITECTURE §5 for the laws every store keeps.

    Every answer is a future, which may be done already: a task for each would cost more than
    most answers do.
    """

    durability: Durability
    shared: bool
    """Whether other processes may use it at the same time."""

    # Any process, unfenced.
    def accept(self, arrivals: Sequence[Arrival]) -> Future[Sequence[Answer]]: ...
    def tell(self, command: Command) -> Future[Command]: ...

    # Owners.
    def beat(self, owner: Owner, ttl_ms: int) -> Future[Alive | Lost]: ...
    def leave(self, owner: Owner) -> Future[None]: ...
    def ready(self, now_ms: int, after: LaneId | None, limit: int) -> Future[list[LaneId]]: ...
    def claim(self, lane: LaneId, owner: Owner) -> Future[Lease | None]: ...
    def load(self, lease: Lease) -> Future[Rows]: ...
    def backlog(self, lease: Lease, after: Cursors, limit: int) -> Future[BacklogPage]: ...
    def mailbox(self, lease: Lease) -> Future[Sequence[Command]]: ...
    def commit(self, commits: Sequence[Commit]) -> Future[Sequence[int | LeaseLost]]: ...
    def release(self, lease: Lease) -> Future[None]: ...

    # Readers.
    def intent(self, intent: IntentId) -> Future[IntentView | None]: ...
    def answers(self, lane: LaneId, intents: Sequence[IntentId]) -> Future[list[Result]]:
        """Of these intents of one lane, a few hundred, the answers of those that are final."""

    def find(self, name: str, value: str) -> Future[Index | None]: ...
    def lane(self, lane: LaneId) -> Future[LaneView | None]: ...
    def lanes(self, after: LaneId | None, limit: int) -> Future[list[LaneView]]: ...
    def oldest(self, lane: LaneId) -> Future[IntentRow | None]: ...
    def page(self, status: str, after: IntentId | None, limit: int) -> Future[list[IntentView]]: ...
    def history(self, lane: LaneId, after: IntentId | None, limit: int) -> Future[list[IntentView]]:
        """A lane's intents in its own order (class, then sequence), waiting and final alike."""

    def feed(self, after: str, limit: int) -> Future[list[FeedEntry]]:
        """What was told behind this cursor ("" is the beginning), ordered for each lane."""

    def news(self) -> AsyncIterator[News]:
        """What other processes do, while there are any. Whoever needs to know asks too."""

    def prune(self, before_ms: int, feed_before_ms: int, limit: int) -> Future[int]: ...
    def close(self) -> Future[None]: ...


@runtime_checkable
class FeedEnd(Protocol):
    """A Store that knows where its feed ends, so that nobody reads all of it to join there."""

    def feed_end(self) -> Future[str]:
        """The cursor behind everything told so far."""


@runtime_checkable
class Cautious(Protocol):
    """A Store on servers that others may promote or demote."""

    def cautions(self) -> Sequence[str]:
        """What could be lost although it was answered, each with the setting that mends it."""


class Clock(Protocol):
    """Wall time orders nothing; it is only shown, stored and compared with deadlines."""

    def now_ms(self) -> int: ...
    def monotonic_ms(self) -> int: ...


class Entropy(Protocol):
    def token(self, size: int) -> bytes: ...


class ContractCall(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One execution of a contract, as its caller asked for it (seed 004 §9)."""

    contract: str
    executor: str
    data: str
    quorum_type: int = 2
    comment: str = ""


class TracedCall(ContractCall, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One whose caller said which trace it belongs to; a type of its own, so that the others, which
    are nearly all, carry nothing for it."""

    trace: str = ""
    """A W3C traceparent."""


class HostTraits(Struct, frozen=True):
    """What a host promises; the contract machine's caution depends on it."""

    takes_parent: bool
    """`execute` names the parent block, so a second try on the same parent cannot land twice."""
    has_chain: bool = True
    """Heights are read from a chain that others may write too. False for a plain callable."""


class Execution(Struct, frozen=True):
    """What an execution's answer proves."""

    outcome: Outcome
    block: int | None = None
    """The block it made, when accepted."""
    final: bool = False
    """A refusal that no retry can change."""
    stale: bool = False
    """A refusal because the parent was no longer the latest block."""
    reason: str = ""


class Finding(Struct, frozen=True):
    """What a look at the chain proves. Absence proves nothing about a round still running."""

    latest: int
    block: int | None
    """The block with our executor and data behind the parent, if it is there."""


@runtime_checkable
class PromptHost(Protocol):
    """A ContractHost that answers an execution at once: there is nothing to wait for or cancel."""

    def execute_now(self, call: ContractCall, parent: int) -> Execution: ...


class ContractHost(Protocol):
    """Runs contract executions. `ChainUnreachable` from any call proves nothing was sent."""

    traits: HostTraits

    async def latest_block(self, contract: str) -> int: ...
    async def execute(self, call: ContractCall, parent: int) -> Execution: ...
    async def find(self, call: ContractCall, parent: int) -> Finding:
        """Height and block from one view of the chain, no older than the host's own answers."""

    async def close(self) -> None: ...


class Signer(Protocol):
    """Signs for one EVM account, whose key the engine never sees.

    It is given the payload, not its hash: some remote signers hash what they are sent, and only
    sign what they have hashed themselves. It may be called hundreds of times at once, and bounds
    by itself what it asks of the world.
    """

    address: bytes
    """The account, 20 bytes. Every signature is checked to be its own."""

    async def sign(self, payload: bytes) -> "Signature":
        """Sign keccak(payload); for a transaction, payload is the encoding that is hashed.

        The signature has the lower s, and recovers to `address`. SignerRefused is final for this
        payload, SignerUnreachable is not; neither leaves anything behind.
        """

    async def close(self) -> None: ...


@runtime_checkable
class PromptSigner(Protocol):
    """A Signer that holds its key itself and answers at once: there is nothing to wait for."""

    def sign_now(self, payload: bytes) -> "Signature": ...


class Delegation(Struct, frozen=True, array_like=True):
    """A signed EIP-7702 authorization."""

    chain_id: int
    address: bytes
    nonce: int
    y_parity: int
    r: int
    s: int


class EvmAuthorization(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A signed EIP-7702 authorization, as an intent keeps it."""

    chain_id: int
    address: bytes
    nonce: int
    y_parity: int
    r: Amount
    s: Amount


class EvmBlobs(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a type 3 transaction carries beside itself (EIP-4844, EIP-7594)."""

    hashes: tuple[bytes, ...]
    version: int
    blobs: tuple[bytes, ...]
    commitments: tuple[bytes, ...]
    proofs: tuple[bytes, ...]
    fee_wei_max: Amount = b""
    """Of one unit of blob gas; nothing: twice what the chain asks now."""


class EvmRequest(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """What an account is asked to send once: the payload of its intents. It has no nonce, and of
    the fee only what its caller insists on. Fields are only appended."""

    to: bytes | None
    """None creates a contract."""
    value_wei: Amount = b""
    input: bytes = b""
    gas: int | None = None
    """None: estimated when it is signed."""
    type: int | None = None
    """None: 4 with authorizations, 3 with blobs, else 2, or 0 where the chain knows no base fee."""
    fee_wei_max: int | None = None
    """Of one unit of gas: never more, however long it waits."""
    tip_wei: int | None = None
    """What its first attempt offers to the block's builder; None: what the chain asks."""
    cost_wei_max: Amount | None = None
    """Of all its gas."""
    access_list: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()
    authorizations: tuple[EvmAuthorization, ...] = ()
    blobs: EvmBlobs | None = None
    trace: str = ""
    """A W3C traceparent."""


class EvmCall(Struct, frozen=True):
    """What a transaction would do, before it has a nonce or a fee."""

    sender: bytes
    to: bytes | None
    """None creates a contract."""
    value_wei: int = 0
    input: bytes = b""
    access_list: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()
    delegations: tuple[Delegation, ...] = ()
    blob_hashes: tuple[bytes, ...] = ()


class EvmChain(Protocol):
    """One EVM chain, behind one node or several.

    Reads raise `ChainUnreachable` when no node could be asked and `ChainUnreadable` when none gave
    an answer of use; they come from a node that is not behind the others. A `None` among answers
    says that this node does not know, and proves nothing.
    """

    nodes: tuple[str, ...]
    """Whom every transaction is offered to; committed with every attempt."""

    async def account(self, address: bytes) -> AccountSeen: ...
    async def fees(self) -> FeesSeen: ...
    async def estimate(self, call: EvmCall) -> Estimated | Reverted | NotEstimated: ...

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[Sent]]:
        """Offer signed bytes to every node, or to those that are named, in this order: for each,
        each node's answer.

        A node's trouble is an answer too, so this raises nothing on its account.
        """

    async def blocks(self, known: Sequence[BlockRef], limit: int) -> BlocksSeen:
        """What is behind the newest of the known blocks, which are given oldest first."""

    async def receipts(
        self, hashes: Sequence[bytes], blocks: Sequence[BlockSeen] = ()
    ) -> Sequence[ReceiptSeen | None]:
        """In their order. `blocks` are those in which the hashes were seen, where that is known: a
        block that is asked for almost whole may be told in one go."""

    async def at_nonce(self, address: bytes, nonce: int, block: BlockRef) -> NonceOwner | None:
        """Who was mined at this nonce, asked of a node that has reached the block's number."""

    def heads(self) -> AsyncIterator[BlockRef]:
        """The newest block whenever it changes; some may be passed over."""


class CosmosSigner(Protocol):
    """Signs for one Cosmos account, whose key the engine never sees."""

    public_key: bytes
    """Compressed, 33 bytes."""

    async def sign(self, payload: bytes) -> bytes:
        """Sign SHA-256 of the payload: r and s in 64 bytes, with the lower s. SignerRefused is
        final for this payload, SignerUnreachable is not; neither leaves anything behind."""

    async def close(self) -> None: ...


@runtime_checkable
class PromptCosmosSigner(Protocol):
    """A CosmosSigner that holds its key itself and answers at once."""

    def sign_now(self, payload: bytes) -> bytes: ...


class CosmosBlob(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Data for Celestia, in a namespace of its own."""

    namespace: bytes
    data: bytes
    share_version: int = 0
    """1 names the account that pays for it in its shares."""


class CosmosRequest(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a Cosmos account is asked to send once: the payload of its intents. It has no sequence,
    and of the fee only what its caller insists on. Fields are only appended."""

    messages: tuple[tuple[str, bytes], ...] = ()
    """Each with the url of its kind."""
    blobs: tuple[CosmosBlob, ...] = ()
    memo: str = ""
    gas: int | None = None
    """None: by a formula for blobs, else simulated when it is signed."""
    fee: int | None = None
    """In all, in the chain's own coin; None: gas times its price."""
    price_micro: int | None = None
    """Millionths of a coin for a unit of gas; None: what the chain asks."""
    granter: str = ""
    """Who pays the fee; empty: what the account's settings say."""
    timeout_height: int | None = None
    """The last block that may hold it; None: so many behind the newest."""
    trace: str = ""
    """A W3C traceparent."""


class CosmosChain(Protocol):
    """One Cosmos chain, behind one node or several. Each node is looked at for itself: its mempool
    is its own. Reads raise `ChainUnreachable` and `ChainUnreadable`."""

    nodes: tuple[str, ...]
    """Whom every transaction is offered to; committed with every attempt."""

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[Offered]]:
        """Offer signed bytes to every node, or to those that are named, in the order of their
        sequences: for each, each node's answer. Behind one that a node does not take it is offered
        nothing more. A node's trouble is an answer too, so this raises nothing on its account."""

    async def look(self, node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        """What one node shows of an account and its transactions, in their order."""

    async def used_by(self, address: str, sequence: int) -> TxSeen | None:
        """The transaction in a block that used this number; None where no node tells."""

    async def gas_price(self, priority: int = 2) -> float | None:
        """What a unit of gas costs now, by the chain's own estimate; None where it has none."""

    async def gas_used(self, raw: bytes) -> GasSeen:
        """What these bytes would use now."""

    async def close(self) -> None: ...


class Message(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one endpoint is told. Kept as the payload of its delivery; fields are only appended."""

    id: str
    """Of the message: it stays the same however often it is sent, so that receivers drop
    repeats."""
    type: str
    body: bytes
    """The JSON as it is sent and signed."""
    resends: str = ""
    """The delivery that this one repeats, by a person's word."""


class Posted(Struct, frozen=True):
    """What came of one POST."""

    code: int | None
    """The HTTP status; None when there was no answer."""
    duration_ms: int
    reason: str = ""
    preview: bytes = b""
    retry_after_ms: int | None = None


class Sender(Protocol):
    """Delivers messages to endpoints."""

    async def post(self, endpoint: str, message: Message) -> Posted:
        """Send it once, and answer within its own time limit whatever happens; never raises."""

    async def close(self) -> None: ...
