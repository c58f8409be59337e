"""The ledger service as a rollup that blocks are built for.

What a transfer comes to is decided by `execution`; here it is decided which transfers make a
block: one that would use no nonce is in no block.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from laneway.core.errors import BadRequest, BuildFailed
from laneway.jam.errors import InvalidJam
from laneway.jam.package import RefineContext
from laneway.jam.report import Ok
from laneway.jam.service.exports import segments_count
from laneway.jam.service.interface import RefineInput, Stored
from laneway.jam.service.values import CLAIMED, Claimed
from laneway.jam.trie import Trie
from laneway.lanes.bundle.rows import ExecutionVerdict
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import AMOUNT_MAX
from laneway.rollups.ledger.batch import arranged
from laneway.rollups.ledger.block import (
    BODY,
    LedgerBlock,
    block_hash,
    block_of,
    claim_of,
    genesis_header,
    segments_of,
)
from laneway.rollups.ledger.execution import TransferStatus
from laneway.rollups.ledger.kind import GENESIS_KEY
from laneway.rollups.ledger.limits import TRANSFER_COUNT_MAX, WITNESS_NODE_COUNT_MAX
from laneway.rollups.ledger.refine import checked, read
from laneway.rollups.ledger.refine import refine as refine_block
from laneway.rollups.ledger.state import (
    LedgerState,
    execute,
    genesis_balances,
    genesis_state,
    witness_of,
)
from laneway.rollups.ledger.transfer import (
    TRANSFER,
    TRANSFER_BYTES,
    Transfer,
    account_id,
    is_signed,
    transfer_hash,
)
from laneway.rollups.ledger.witness import nodes_on_the_ways, touched_keys, work_item
from laneway.rollups.receipts import AccountState
from laneway.rollups.rules import (
    BlockExecution,
    BlockWork,
    RollupRules,
    SealedBlock,
    TransactionOutcome,
    TransactionVerdict,
)

JAM_ERA_MS: Final = 1_735_732_800_000
"""When slot 0 of the common era began (Gray Paper, §4.4)."""
SLOT_MS: Final = 6_000
TIMESTAMP_MAX: Final = (1 << 32) - 1

USED: Final = "its nonce {nonce} was used; the account's next is {following}"
EARLY: Final = "its nonce is {nonce}, and nonce {following} is awaited first"


class LedgerRules(RollupRules[LedgerState, LedgerBlock]):
    """One ledger of one chain."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    # Transactions.

    def checked(self, raw: bytes) -> bytes:
        try:
            return transfer_hash(read_transfer(self.domain, raw))
        except ValueError as problem:
            raise BadRequest("transaction", str(problem)) from problem

    def stale(self, raw: bytes, state: LedgerState) -> str:
        transfer = TRANSFER.decode(raw, "transfer")
        following = state.account(account_id(transfer.sender)).nonce
        if transfer.nonce >= following:
            return ""
        return USED.format(nonce=transfer.nonce, following=following)

    # Blocks.

    def execute(
        self, state: LedgerState, parent: LedgerBlock, raws: Sequence[bytes], made_ms: int
    ) -> BlockExecution[LedgerState, LedgerBlock]:
        batch = _Candidates(self.domain, raws)
        batch.arrange(state)
        inside = batch.inside
        if not inside:
            return BlockExecution(None, state, batch.close(()))
        made = [batch.transfers[place] for place in inside]
        with _translated():
            block, after = execute(state, made, parent.header, timestamp(made_ms))
        return BlockExecution(block, after, batch.close([one.status for one in block.receipts]))

    def replay(self, state: LedgerState, parent: LedgerBlock, block: LedgerBlock) -> LedgerState:
        header = block.header
        with _translated(f"block {header.number}: ", final=True):
            made, after = execute(state, block.transfers, parent.header, header.timestamp)
        if made != block:
            differs = f"block {header.number} does not follow from the one before it"
            raise BuildFailed(differs, final=True)
        return after

    def sealed(self, block: LedgerBlock) -> SealedBlock:
        header = block.header
        return SealedBlock(
            number=header.number,
            hash=block_hash(header),
            parent=header.parent,
            pre_root=header.pre_root,
            post_root=header.post_root,
        )

    def encode(self, block: LedgerBlock) -> bytes:
        return BODY.encode(block)

    def decode(self, payload: bytes) -> LedgerBlock:
        with _translated("the payload is no block: ", final=True):
            return BODY.decode(payload, "block")

    def outcomes(self, block: LedgerBlock) -> tuple[TransactionOutcome, ...]:
        return tuple(
            TransactionOutcome(one.transfer_hash, status_name(one.status)) for one in block.receipts
        )

    # Packages.

    def work(self, state: LedgerState, block: LedgerBlock) -> BlockWork:
        return work_item(self.domain, block, witness_of(state, block))

    def refine(
        self, block: LedgerBlock, work: BlockWork, context: RefineContext, package_hash: bytes
    ) -> None:
        (item,) = work.items
        request = RefineInput(
            service=item.service,
            payload=item.payload,
            extrinsics=work.extrinsics,
            context=context,
            package_hash=package_hash,
            gas_limit=item.refine_gas_limit,
        )
        found = refine_block(self.domain.chain, request)
        promised = Ok(CLAIMED.encode(Claimed(claim_of(block.header))))
        if found.result != promised or found.exports != segments_of(block):
            raise BuildFailed(f"no guarantor would take it: {self._trouble(request)}", final=True)

    def _trouble(self, request: RefineInput) -> str:
        """The reason, which a guarantor does not give."""
        try:
            checked(self.domain, *read(request))
        except InvalidJam as problem:
            return str(problem)
        return "refining it comes to something else"

    # What comes from the chain.

    def genesis(self, raw: bytes) -> tuple[LedgerBlock, LedgerState]:
        with _translated("the service's genesis is that of no ledger: "):
            state = genesis_state(self.domain, genesis_balances(Stored({GENESIS_KEY: raw})))
        return LedgerBlock(genesis_header(state.root), (), ()), state

    def segments_count(self, first: bytes) -> int:
        with _translated():
            return segments_count(first)

    def from_segments(self, segments: Sequence[bytes]) -> LedgerBlock:
        with _translated("the segments hold no block: "):
            return block_of(segments)

    # States on disk.

    def entries(self, state: LedgerState) -> Iterable[tuple[bytes, bytes]]:
        return state.trie.items()

    def changes(self, state: LedgerState, block: LedgerBlock) -> Mapping[bytes, bytes]:
        found = {key: state.trie.get(key) for key in touched_keys(block.transfers)}
        # A recipient who got nothing and never had anything is not in the state.
        return {key: value for key, value in found.items() if value is not None}

    def restored(self, entries: Iterable[tuple[bytes, bytes]]) -> LedgerState:
        return LedgerState(self.domain, Trie.of(entries))

    def root(self, state: LedgerState) -> bytes:
        return state.root

    # What people ask.

    def account(self, state: LedgerState, account: bytes) -> AccountState:
        found = state.account(account)
        return AccountState(found.balance, found.nonce)

    def spent(self, raw: bytes) -> tuple[bytes, int]:
        transfer = TRANSFER.decode(raw, "transfer")
        return account_id(transfer.sender), transfer.nonce


@contextmanager
def _translated(context: str = "", *, final: bool = False) -> Iterator[None]:
    """What is no part of a ledger, as the reason why a block cannot be built."""
    try:
        yield
    except InvalidJam as problem:
        raise BuildFailed(f"{context}{problem}", final=final) from problem


def timestamp(made_ms: int) -> int:
    """The slot of the common era, whatever the chain calls its own: no rebuild changes it."""
    return min(max(0, made_ms - JAM_ERA_MS) // SLOT_MS, TIMESTAMP_MAX)


def status_name(status: TransferStatus) -> str:
    return status.name.lower()


def read_transfer(domain: Domain, raw: bytes) -> Transfer:
    """A transfer that some state may take; ValueError says why none will."""
    if len(raw) != TRANSFER_BYTES:
        raise ValueError(f"it has {len(raw)} bytes, and a transfer has {TRANSFER_BYTES}")
    transfer = TRANSFER.decode(raw, "transfer")
    if not is_signed(domain, transfer):
        raise ValueError("its signature is not its sender's for this ledger of this chain")
    if transfer.nonce == AMOUNT_MAX:
        raise ValueError(f"{AMOUNT_MAX} is a nonce that no account ever uses")
    return transfer


class _Candidates:
    """Transactions on their way into a block; places are those of the transactions."""

    def __init__(self, domain: Domain, raws: Sequence[bytes]) -> None:
        self.transfers: dict[int, Transfer] = {}
        self.inside: list[int] = []
        self._judged: dict[int, TransactionVerdict] = {}
        self._count = len(raws)
        for place, raw in enumerate(raws):
            try:
                self.transfers[place] = read_transfer(domain, raw)
            except ValueError as problem:
                self._judge(place, ExecutionVerdict.REFUSED, str(problem))

    def arrange(self, state: LedgerState) -> None:
        places = list(self.transfers)
        found = arranged(list(self.transfers.values()), lambda id_: state.account(id_).nonce)
        inside = [places[one] for one in found.inside]
        fitting = self._fitting(state, inside)
        self.inside = inside[:fitting]
        for place in inside[fitting:]:
            self._judge(place, ExecutionVerdict.FULL, "its block is full")
        for one, following in found.used.items():
            self._judge_nonce(places[one], ExecutionVerdict.REFUSED, USED, following)
        for one, following in found.early.items():
            # What goes before it may lie in the backlog yet: how long it waits, the lane decides.
            self._judge_nonce(places[one], ExecutionVerdict.DEFERRED, EARLY, following)

    def close(self, statuses: Sequence[TransferStatus]) -> tuple[TransactionVerdict, ...]:
        """What became of each, once the block says what became of those inside."""
        for place, status in zip(self.inside, statuses, strict=True):
            if status is TransferStatus.OK:
                self._judge(place, ExecutionVerdict.INCLUDED)
            else:
                self._judge(place, ExecutionVerdict.REVERTED, status_name(status))
        return tuple(self._judged[place] for place in range(self._count))

    def _fitting(self, state: LedgerState, inside: Sequence[int]) -> int:
        """How many of them, from the first on, guarantors can be asked to take."""
        count = min(len(inside), TRANSFER_COUNT_MAX)
        while count > 1:
            touched = touched_keys([self.transfers[place] for place in inside[:count]])
            if len(nodes_on_the_ways(state.trie, touched)) <= WITNESS_NODE_COUNT_MAX:
                break
            count //= 2
        return count

    def _judge_nonce(self, place: int, verdict: str, reason: str, following: int) -> None:
        nonce = self.transfers[place].nonce
        self._judge(place, verdict, reason.format(nonce=nonce, following=following))

    def _judge(self, place: int, verdict: str, reason: str = "") -> None:
        transfer = self.transfers.get(place)
        hashed = b"" if transfer is None else transfer_hash(transfer)
        self._judged[place] = TransactionVerdict(verdict=verdict, hash=hashed, reason=reason)
