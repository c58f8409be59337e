"""What a builder asks of one kind of rollup. The ledger is the first; others implement the same.

All of it is pure: what an answer depends on is in its arguments, so that two builders with the
same state give the same block. A state never changes; a block leaves another one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from laneway.jam.package import RefineContext, WorkItem

S = TypeVar("S")
"""A state of the rollup."""
B = TypeVar("B")
"""A block of the rollup, with its transactions and receipts."""


class Sealed(Struct, frozen=True, kw_only=True):
    """What every kind of rollup says of a block."""

    number: int
    hash: bytes
    parent: bytes
    pre_root: bytes
    post_root: bytes


class Judgement(Struct, frozen=True, kw_only=True):
    """What became of a transaction."""

    verdict: str
    """One of the words of `Verdict`."""
    hash: bytes = b""
    """Empty: it is none."""
    reason: str = ""


class Executed(Struct, Generic[S, B], frozen=True):
    block: B | None
    """None: no transaction is in it, and there are no empty blocks."""
    state: S
    judged: tuple[Judgement, ...]
    """One for each transaction, in the order in which they were given."""


class Work(Struct, frozen=True):
    """A block as work items, and the byte strings that they name."""

    items: tuple[WorkItem, ...]
    extrinsics: tuple[bytes, ...]


class Outcome(Struct, frozen=True):
    """What the receipt of a transaction says."""

    hash: bytes
    status: str


class Rollup(Protocol[S, B]):
    """One rollup of one chain.

    `BuildFailed` with `final` says that what was given is at fault. `BadRequest` says the same of a
    transaction, to whom it came from.
    """

    @property
    def name(self) -> str:
        """Of its kind."""

    @property
    def identity(self) -> bytes:
        """Which rollup of which chain: what was made for one is worth nothing on another."""

    @property
    def genesis_key(self) -> bytes:
        """Under which the service's storage holds what the rollup began with."""

    # Transactions.

    def checked(self, raw: bytes) -> bytes:
        """The hash of a transaction; BadRequest for what no state can ever take."""

    def stale(self, raw: bytes, state: S) -> str:
        """Why neither this state nor any behind it takes a transaction that was checked; empty:
        one of them may."""

    # Blocks.

    def execute(self, state: S, parent: B, raws: Sequence[bytes], made_ms: int) -> Executed[S, B]:
        """Make a block of these transactions on its parent."""

    def replay(self, state: S, parent: B, block: B) -> S:
        """The state that a block leaves; BuildFailed unless it follows from its parent."""

    def sealed(self, block: B) -> Sealed: ...

    def encode(self, block: B) -> bytes:
        """All that the block is made of."""

    def decode(self, payload: bytes) -> B: ...

    def outcomes(self, block: B) -> tuple[Outcome, ...]:
        """Of its transactions, in their order in the block."""

    # Packages.

    def work(self, state: S, block: B) -> Work:
        """What guarantors are asked to do, with all of the state before it that they need."""

    def refine(self, block: B, work: Work, context: RefineContext, package_hash: bytes) -> None:
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
        """What the block may have changed, as it stands in the state behind it."""

    def restored(self, entries: Iterable[tuple[bytes, bytes]]) -> S: ...

    def root(self, state: S) -> bytes: ...
