"""What a builder asks of the rules of one rollup.

All of it is pure: what an answer depends on is in its arguments, so that two builders with the
same state give the same block. A state never changes; a block leaves another one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from laneway.core.errors import BadRequest
from laneway.jam.package import RefineContext, WorkItem
from laneway.rollups.receipts import AccountState

S = TypeVar("S")
"""A state of the rollup."""
B = TypeVar("B")
"""A block of the rollup, with its transactions and receipts."""


class SealedBlock(Struct, frozen=True, kw_only=True):
    """What every kind of rollup says of a block."""

    number: int
    hash: bytes
    parent: bytes
    pre_root: bytes
    post_root: bytes


class TransactionVerdict(Struct, frozen=True, kw_only=True):
    """What became of a transaction."""

    verdict: str
    """INCLUDED, REVERTED, REFUSED, DEFERRED or FULL of `ExecutionVerdict`: with any other word no
    block is built."""
    hash: bytes = b""
    """Empty if the bytes are no transaction."""
    reason: str = ""


class BlockExecution(Struct, Generic[S, B], frozen=True):
    """A block that was made, and the state after it."""

    block: B | None
    """None if no transaction is in it: there are no empty blocks."""
    state: S
    judged: tuple[TransactionVerdict, ...]
    """One for each transaction, in the order of the arguments."""


class BlockWork(Struct, frozen=True):
    """A block as work items, and the byte strings that they name."""

    items: tuple[WorkItem, ...]
    extrinsics: tuple[bytes, ...]


class TransactionOutcome(Struct, frozen=True):
    """What the receipt of a transaction says."""

    hash: bytes
    status: str
    """`ok`, or the kind's own name for how it failed."""


class RollupRules(Protocol[S, B]):
    """The rules of one rollup of one chain.

    `BuildFailed` with `final` says that the arguments are at fault. `BadRequest` says the same of a
    transaction, to the caller who sent it.
    """

    # Transactions.

    def checked(self, raw: bytes) -> bytes:
        """The hash of a transaction; BadRequest for what no state can ever take."""

    def stale(self, raw: bytes, state: S) -> str:
        """Why neither this state nor any after it takes a transaction that was checked; empty if
        one of them may."""

    # Blocks.

    def execute(
        self, state: S, parent: B, raws: Sequence[bytes], made_ms: int
    ) -> BlockExecution[S, B]:
        """Make a block of these transactions on its parent."""

    def replay(self, state: S, parent: B, block: B) -> S:
        """The state that a block leaves; BuildFailed unless it follows from its parent."""

    def sealed(self, block: B) -> SealedBlock: ...

    def encode(self, block: B) -> bytes:
        """All that the block is made of."""

    def decode(self, payload: bytes) -> B: ...

    def outcomes(self, block: B) -> tuple[TransactionOutcome, ...]:
        """What became of its transactions, in their order in the block."""

    # Packages.

    def work(self, state: S, block: B) -> BlockWork:
        """What guarantors are asked to do, with all of the state before it that they need."""

    def refine(
        self, block: B, work: BlockWork, context: RefineContext, package_hash: bytes
    ) -> None:
        """Do once what guarantors will do; BuildFailed unless it comes to the block."""

    # What comes from the chain.

    def genesis(self, raw: bytes) -> tuple[B, S]:
        """What stands under the genesis key, as a block without transactions and its state."""

    def segments_count(self, first: bytes) -> int:
        """How many segments hold a block, by the first of them."""

    def from_segments(self, segments: Sequence[bytes]) -> B:
        """The block that a package exported."""

    # States on disk.

    def entries(self, state: S) -> Iterable[tuple[bytes, bytes]]:
        """All of a state."""

    def changes(self, state: S, block: B) -> Mapping[bytes, bytes]:
        """What the block may have changed, as it stands in the state after it."""

    def restored(self, entries: Iterable[tuple[bytes, bytes]]) -> S: ...

    def root(self, state: S) -> bytes: ...

    # What people ask. A rollup without accounts inherits these answers.

    def account(self, state: S, account: bytes) -> AccountState:
        """An account in a state, by its id."""
        raise BadRequest("account", "this rollup has no accounts")

    def spent(self, raw: bytes) -> tuple[bytes, int] | None:
        """The account whose nonce a transaction uses, and that nonce; None if it uses none."""
        return None
