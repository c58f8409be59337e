"""What the engine asks of Cosmos nodes and of those who sign for Cosmos accounts."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from laneway.core.cosmos import CosmosLook, GasSeen, OfferAnswer, TxSeen


class CosmosSigner(Protocol):
    """Signs for one Cosmos account, whose key the engine never sees."""

    public_key: bytes
    """Compressed, 33 bytes."""

    async def sign(self, payload: bytes) -> bytes:
        """Sign SHA-256 of the payload: r and s in 64 bytes, with the lower s. SignerRefused is
        final for this payload, SignerUnreachable is not; after either nothing is left."""

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
    """The last block that may hold it; None: the caller names none. What is signed ends with the
    lane's own timeout before that, and is signed anew."""
    trace: str = ""
    """A W3C traceparent."""


class CosmosChain(Protocol):
    """One Cosmos chain, reached by one node or several. Each is looked at by itself, for it has
    its own mempool. Reads raise `ChainUnreachable` and `ChainUnreadable`."""

    nodes: tuple[str, ...]
    """Whom every transaction is offered to; committed with every attempt."""

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[OfferAnswer]]:
        """Offer signed bytes to every node, or to the named ones, in the order of their sequences.
        Returns each node's answer for each of them. A node is offered nothing after bytes that it
        does not take. A node's trouble is an answer too, so this raises nothing on its account."""

    async def look(self, node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        """What one node shows of an account and its transactions, in their order."""

    async def used_by(self, address: str, sequence: int) -> Sequence[TxSeen]:
        """The transaction in a block that used this number, by each node that names one."""

    async def gas_price(self, priority: int = 2) -> float | None:
        """What a unit of gas costs now, by the chain's own estimate; None where it has none."""

    async def gas_used(self, raw: bytes) -> GasSeen:
        """What these bytes would use now."""

    async def close(self) -> None: ...
