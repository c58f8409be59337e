"""What the engine and a rollup's builder ask of JAM nodes."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol, TypeAlias

from laneway.core.jam import (
    BlocksGone,
    Context,
    JamBlockRef,
    JamBlocksSeen,
    JamHead,
    LineAsked,
    Package,
    PackageSeen,
    Parameters,
    SlotClock,
    SubmissionAnswers,
    SyncState,
    Watched,
)

SendPermit: TypeAlias = Callable[[SlotClock | None], str]
"""Returns why a package must not leave now, by the chain's clock of this moment, which is None
before any of its blocks arrived; empty if it may leave."""


class JamChain(Protocol):
    """One JAM chain, reached by one node or several.

    Reads raise `ChainUnreachable` when no node could be asked, `ChainUnreadable` when none gave an
    answer of use and another `ChainError` when none answered in time; they come from a node that
    does not lag the others. A `None` among answers says that there is no such thing in the
    state of that block: it is the word of two nodes, or of the only one, while no other node has
    it. Where a node says so alone, an error is raised whose `retry` is "later".
    """

    nodes: tuple[str, ...]
    """Who may be offered a package; committed with every attempt."""

    async def parameters(self) -> Parameters: ...

    async def clock(self) -> SlotClock:
        """The chain's slots on this machine's clock, as far as heads were followed."""

    async def head(self) -> JamHead: ...

    def heads(self) -> AsyncGenerator[JamHead, None]:
        """The chain's head whenever it changes, until it is closed; some may be passed over."""

    async def context(self, *, offset: int = 1) -> Context:
        """What a package can lean on: its anchor is `offset` blocks below the best one."""

    async def submit(
        self,
        package: Package,
        cores: Sequence[int],
        only: Sequence[str] = (),
        permit: SendPermit | None = None,
    ) -> SubmissionAnswers:
        """Offer a package to every node at once, or to the named ones: to each of them for the
        cores in this order, as long as it refuses the one before. A node that takes it may never
        pass it on, so none is left out because another took it. The answers of all are returned, in
        the order of the nodes; one that is slower than the others counts as one that may have it,
        and what was not sent to it yet may be sent after this has returned. A node's trouble is an
        answer too, so this raises nothing on its account.

        `permit` is asked right before the bytes are written, for each node and core. If it has a
        reason against it, they stay here, and the answer is a refusal with that reason.
        """

    async def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        """The blocks on top of the newest known one (`known` has the oldest first), and what each
        of them shows of the packages; and the line of a service, if it is asked for."""

    def watch(
        self, package: Watched, known: Sequence[JamBlockRef] = ()
    ) -> AsyncGenerator[PackageSeen | BlocksGone, None]:
        """What becomes of one package, from its anchor or from the known blocks on, until the
        block in which it was accumulated is final or the caller closes it. It outlives nodes that
        cannot be asked; how long that may last is for the caller to bound."""

    # Reads at one block, named by its hash.

    async def statistics(self, at: bytes) -> bytes: ...
    async def services(self, at: bytes) -> tuple[int, ...]:
        """Best effort: not every node can list them all."""

    async def service_account(self, at: bytes, service: int) -> bytes | None: ...
    async def service_value(
        self, at: bytes, service: int, key: bytes, fits: Callable[[bytes], bool] | None = None
    ) -> bytes | None:
        """`fits` says whether bytes can be this value, so that another node is asked where they
        cannot; the records that every rollup keeps need none."""

    async def service_preimage(self, at: bytes, service: int, digest: bytes) -> bytes | None: ...

    async def service_request(
        self, at: bytes, service: int, digest: bytes, length: int
    ) -> tuple[int, ...] | None:
        """The slots at which a requested preimage came, went and came again; None: no request."""

    async def state_root(self, at: bytes) -> bytes: ...
    async def beefy_root(self, at: bytes) -> bytes: ...

    async def state_value(self, at: bytes, key: bytes) -> bytes | None:
        """Under a key of 31 bytes. A draft: most nodes have no such call."""

    # Reads that name no block.

    async def work_report(self, report_hash: bytes) -> bytes: ...

    async def segments(self, root: bytes, indices: Sequence[int]) -> tuple[bytes, ...]:
        """Segments under their root, unproven: the caller checks them against the root."""

    async def package_segments(
        self, package_hash: bytes, indices: Sequence[int]
    ) -> tuple[bytes, ...]: ...

    async def exports(
        self, package_hash: bytes, root: bytes, count_of: Callable[[bytes], int]
    ) -> tuple[bytes, ...]:
        """All segments that a package exported, proven by their root; the first one says how many
        there are. A node whose segments do not come to the root is passed over."""

    async def submit_preimage(self, requester: int, preimage: bytes) -> SubmissionAnswers: ...
    async def sync_state(self) -> SyncState: ...

    async def aclose(self) -> None:
        """End all connections, subscriptions and tasks."""
