"""What the engine asks of EVM nodes and of those who sign for EVM accounts."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import astuple

from laneway.core.facts import (
    AccountAtBlock,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Estimated,
    FeesSeen,
    LogsSeen,
    NodeReceipts,
    NonceClaim,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    RevertSeen,
    SendAnswer,
)
from laneway.core.units import Amount

if TYPE_CHECKING:
    # The curve is an extra (`evm`); contracts need none of it.
    from laneway.evm.secp256k1 import Signature


class Signer(Protocol):
    """Signs for one EVM account, whose key the engine never sees.

    It takes the payload, not its hash: some remote signers only sign what they have hashed
    themselves. It may be called hundreds of times at once, and bounds its own requests.
    """

    address: bytes
    """The account, 20 bytes. Every signature is checked to be its own."""

    async def sign(self, payload: bytes) -> "Signature":
        """Sign keccak(payload); for a transaction, payload is the encoding that is hashed.

        The signature has the lower s, and recovers to `address`. SignerRefused is final for this
        payload, SignerUnreachable is not; after either nothing is left.
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


class EvmWords(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What is kept of an ABI beside calldata, so that it can be shown in words. No node gets it,
    and it is no part of what the caller wants done."""

    items: tuple[str, ...]
    """Human-readable signatures: of what is called first, then errors and events."""
    arguments_at: int = 0
    """Of a deployment: the byte of `input` where the constructor's arguments begin; 0 where that is
    not known."""


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
    words: EvmWords | None = None
    """Stored only where there are some (`stored_form`)."""


PLAIN_FIELDS: Final = EvmRequest.__struct_fields__.index("words")
"""Fields of a request without words."""


def stored_form(request: EvmRequest) -> object:
    """What is encoded of a request. Without words it has the bytes that it had before there were
    any: keys stay taken by the same body, and an earlier release reads it."""
    return astuple(request)[:PLAIN_FIELDS] if request.words is None else request


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


class MinedCall(Struct, frozen=True):
    """A transaction of ours that a block has."""

    hash: bytes
    call: EvmCall
    gas: int
    block: BlockRef


class ExplainingChain(Protocol):
    """A chain that is asked what it did, for people. No lane asks, and nothing that decides."""

    async def logs(self, mined: MinedCall) -> LogsSeen:
        """What it logged, as one node shows it; ChainError says why no node knows."""

    async def revert(self, mined: MinedCall) -> RevertSeen:
        """Why it failed, as one node says; ChainError says why no node knows."""


class EvmChain(Protocol):
    """One EVM chain, reached by one node or several.

    Reads raise `ChainUnreachable` when no node could be asked and `ChainUnreadable` when none gave
    an answer of use; they come from a node that does not lag the others. A `None` among answers
    says that this node does not know, and proves nothing.
    """

    nodes: tuple[str, ...]
    """Whom every transaction is offered to; committed with every attempt."""

    async def account(self, address: bytes) -> AccountAtBlock: ...
    async def fees(self) -> FeesSeen: ...
    async def estimate(self, call: EvmCall) -> Estimated | Reverted | NotEstimated: ...

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[SendAnswer]]:
        """Offer signed bytes to every node, or to the named ones, in this order. Returns each
        node's answer for each of them. A node's trouble is an answer too, so this raises nothing
        on its account."""

    async def blocks(self, known: Sequence[BlockRef], limit: int, node: str = "") -> BlocksSeen:
        """What is on top of the newest of the known blocks, oldest first; from
        this node, if it answers."""

    async def receipts(
        self, hashes: Sequence[bytes], blocks: Sequence[BlockSeen] = (), node: str = ""
    ) -> Sequence[ReceiptSeen | None]:
        """In their order, from this node, if it answers; what it does not know is asked of the
        others. `blocks` are those in which the hashes were seen, where that is known: almost all of
        a block's receipts may be read by one request."""

    async def receipts_by_node(self, hashes: Sequence[bytes]) -> Sequence[NodeReceipts]:
        """What each node that answers shows of these hashes."""

    async def at_nonce(self, address: bytes, nonce: int) -> Sequence[NonceClaim]:
        """What each node that answers says of a nonce. It proves nothing by itself."""

    def heads(self) -> AsyncIterator[BlockRef]:
        """The newest block whenever it changes; some may be passed over."""
