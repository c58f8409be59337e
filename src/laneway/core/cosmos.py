"""What was seen of a Cosmos chain, each thing with the node that showed it.

Its blocks are final: what a majority of the nodes shows as committed stands. All else a node says
of a transaction is how things look from there.
"""

from enum import Enum

from msgspec import Struct

from laneway.core.outcome import Outcome


class OfferKind(Enum):
    """Why a node took a transaction or did not."""

    TAKEN = "taken"
    IN_MEMPOOL = "in_mempool"
    """It has it already."""
    WRONG_SEQUENCE = "wrong_sequence"
    """It expects another number now. It may be ahead of itself until the next block."""
    MEMPOOL_FULL = "mempool_full"
    FEE_TOO_LOW = "fee_too_low"
    NO_FUNDS = "no_funds"
    NO_ACCOUNT = "no_account"
    TIMED_OUT = "timed_out"
    """The last block that may hold it is over."""
    TOO_LARGE = "too_large"
    MALFORMED = "malformed"
    UNAUTHORIZED = "unauthorized"
    """Not signed for this chain, account and sequence."""
    OUT_OF_GAS = "out_of_gas"
    BAD_BLOB = "bad_blob"
    """Its blobs are not what it pays for, or may not be paid for."""
    REFUSED = "refused"
    """For a reason of the application's own."""
    RATE_LIMITED = "rate_limited"
    UNREACHABLE = "unreachable"
    """The node was never asked."""
    SILENT = "silent"
    """It was handed to the network, and no answer came back."""
    UNKNOWN = "unknown"
    """The node's error message is in no table."""

    def outcome(self) -> Outcome:
        if self in (OfferKind.TAKEN, OfferKind.IN_MEMPOOL):
            return Outcome.ACCEPTED
        return Outcome.UNKNOWN if self in UNPROVEN else Outcome.REFUSED

    def is_final(self) -> bool:
        """Whether these bytes are wrong by themselves, at any time and on any node."""
        return self in FINAL


UNPROVEN = (OfferKind.WRONG_SEQUENCE, OfferKind.RATE_LIMITED, OfferKind.SILENT, OfferKind.UNKNOWN)
"""The node may have it, or a block may hold it: a number that is used is used by someone."""

FINAL = (
    OfferKind.TOO_LARGE,
    OfferKind.MALFORMED,
    OfferKind.UNAUTHORIZED,
    OfferKind.OUT_OF_GAS,
    OfferKind.BAD_BLOB,
)
"""Everything else that is refused may be taken later: gaps are filled, funds come, fees fall. A
timeout is not final: a node checks it before the sequence, so bytes in a block get it too."""


class OfferAnswer(Struct, frozen=True):
    """What one node's answer proves about one transaction offered to it."""

    node: str
    kind: OfferKind
    code: int = 0
    codespace: str = ""
    log: str = ""
    expected: int | None = None
    """Of a wrong sequence: the number it wants, where it says so."""


class TxStanding(Enum):
    """Where a node says that a transaction is."""

    COMMITTED = "COMMITTED"
    PENDING = "PENDING"
    EVICTED = "EVICTED"
    REJECTED = "REJECTED"
    UNKNOWN = "UNKNOWN"
    UNTOLD = "UNTOLD"
    """In no block; of all else this node says nothing."""


class TxSeen(Struct, frozen=True):
    """One transaction as one node shows it."""

    hash: bytes
    standing: TxStanding
    height: int = 0
    code: int = 0
    codespace: str = ""
    log: str = ""
    gas_wanted: int = 0
    gas_used: int = 0
    signers: tuple[str, ...] = ()


class GasSeen(Struct, frozen=True):
    """The gas that a transaction would use now, or why that is unknown."""

    used: int | None
    kind: OfferKind = OfferKind.TAKEN
    log: str = ""


class CommittedAccount(Struct, frozen=True):
    """An account as it is committed."""

    number: int
    sequence: int
    """The first one that no block holds."""


class CosmosLook(Struct, frozen=True):
    """What one node showed at once, in this order: its newest block, an account, transactions.

    A block may have come between any two of them: what is later may be newer.
    """

    node: str
    height: int
    account: CommittedAccount | None
    """None: it does not exist yet."""
    txs: tuple[TxSeen, ...]
    network: str = ""
    """The chain that the node says it serves."""
    address: str = ""
    """Whose account it showed; empty where it showed none."""
    origin_height: int = 0
    """The first block that the node has; 0: it does not say."""
    origin: bytes = b""
    """That block's hash."""

    def problem(self, network: str, address: str) -> str:
        """Why this is no answer about the requested account; empty if it is one."""
        if self.network != network:
            return f"it serves chain {self.network}, and this is chain {network}"
        if self.account is not None and self.address != address:
            return f"it showed the account {self.address}, and {address} was asked for"
        return ""
