"""The ledger service as a rollup that blocks are built for.

What a transfer comes to is said by `laneway.jam.service.ledger` alone; here it is said of whom the
block is made: a transfer that would use no nonce is in no block.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from laneway.builder.ledger_batch import arranged
from laneway.builder.rollup import Executed, Judgement, Outcome, Sealed, Work
from laneway.core.errors import BadRequest, BuildFailed
from laneway.jam.codec import U32
from laneway.jam.errors import InvalidJam
from laneway.jam.package import RefineContext
from laneway.jam.report import Ok
from laneway.jam.service.interface import RefineInput
from laneway.jam.service.ledger.account import AMOUNT_MAX
from laneway.jam.service.ledger.block import (
    BODY,
    Block,
    block_hash,
    block_of,
    claim_of,
    genesis_header,
    segments_of,
    segments_spanned,
)
from laneway.jam.service.ledger.execution import Status
from laneway.jam.service.ledger.item import work_item
from laneway.jam.service.ledger.limits import TRANSFER_COUNT_MAX, WITNESS_NODE_COUNT_MAX
from laneway.jam.service.ledger.refine import checked, read
from laneway.jam.service.ledger.refine import refine as refine_block
from laneway.jam.service.ledger.state import (
    GENESIS_KEY,
    LedgerState,
    execute,
    genesis_balances,
    genesis_state,
    witness_of,
)
from laneway.jam.service.ledger.transfer import (
    TRANSFER,
    TRANSFER_BYTES,
    Domain,
    Transfer,
    account_id,
    is_signed,
    transfer_hash,
)
from laneway.jam.service.ledger.witness import nodes_on_the_ways, touched_keys
from laneway.jam.service.storage import Stored
from laneway.jam.service.values import CLAIMED, Claimed
from laneway.jam.spec import IMPORT_COUNT_MAX, SEGMENT_BYTES
from laneway.jam.trie import Trie
from laneway.lanes.bundle.rows import Verdict

JAM_ERA_MS: Final = 1_735_732_800_000
"""When slot 0 of the common era began (Gray Paper, §4.4)."""
SLOT_MS: Final = 6_000
TIMESTAMP_MAX: Final = (1 << 32) - 1
LENGTH_BYTES: Final = 4
"""Of a block, before its bytes in the first segment."""

USED: Final = "its nonce {nonce} was used; the account's next is {following}"
EARLY: Final = "its nonce is {nonce}, and nonce {following} is awaited first"


class LedgerRollup:
    """One ledger of one chain."""

    name = "ledger"
    genesis_key = GENESIS_KEY

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.identity = domain.chain + U32.encode(domain.service)

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
        self, state: LedgerState, parent: Block, raws: Sequence[bytes], made_ms: int
    ) -> Executed[LedgerState, Block]:
        batch = _Batch(self.domain, raws)
        batch.arrange(state)
        inside = batch.inside
        if not inside:
            return Executed(None, state, batch.close(()))
        made = [batch.transfers[place] for place in inside]
        try:
            block, after = execute(state, made, parent.header, timestamp(made_ms))
        except InvalidJam as problem:
            raise BuildFailed(str(problem)) from problem
        return Executed(block, after, batch.close([one.status for one in block.receipts]))

    def replay(self, state: LedgerState, parent: Block, block: Block) -> LedgerState:
        header = block.header
        try:
            made, after = execute(state, block.transfers, parent.header, header.timestamp)
        except InvalidJam as problem:
            raise BuildFailed(f"block {header.number}: {problem}", final=True) from problem
        if made != block:
            differs = f"block {header.number} does not follow from the one before it"
            raise BuildFailed(differs, final=True)
        return after

    def sealed(self, block: Block) -> Sealed:
        header = block.header
        return Sealed(
            number=header.number,
            hash=block_hash(header),
            parent=header.parent,
            pre_root=header.pre_root,
            post_root=header.post_root,
        )

    def encode(self, block: Block) -> bytes:
        return BODY.encode(block)

    def decode(self, payload: bytes) -> Block:
        try:
            return BODY.decode(payload, "block")
        except InvalidJam as problem:
            raise BuildFailed(f"the payload is no block: {problem}", final=True) from problem

    def outcomes(self, block: Block) -> tuple[Outcome, ...]:
        return tuple(Outcome(one.transfer_hash, word(one.status)) for one in block.receipts)

    # Packages.

    def work(self, state: LedgerState, block: Block) -> Work:
        made = work_item(self.domain, block, witness_of(state, block))
        return Work((made.item,), made.extrinsics)

    def refine(self, block: Block, work: Work, context: RefineContext, package_hash: bytes) -> None:
        (item,) = work.items
        given = RefineInput(
            service=item.service,
            payload=item.payload,
            extrinsics=work.extrinsics,
            context=context,
            package_hash=package_hash,
            gas_limit=item.refine_gas_limit,
        )
        found = refine_block(self.domain.chain, given)
        promised = Ok(CLAIMED.encode(Claimed(claim_of(block.header))))
        if found.result != promised or found.exports != segments_of(block):
            raise BuildFailed(f"no guarantor would take it: {self._trouble(given)}", final=True)

    def _trouble(self, given: RefineInput) -> str:
        """In words, which a guarantor has none of."""
        try:
            checked(self.domain, *read(given))
        except InvalidJam as problem:
            return str(problem)
        return "refining it comes to something else"

    # What comes from the chain.

    def genesis(self, raw: bytes) -> tuple[Block, LedgerState]:
        try:
            state = genesis_state(self.domain, genesis_balances(Stored({GENESIS_KEY: raw})))
        except InvalidJam as problem:
            raise BuildFailed(f"the service's genesis is that of no ledger: {problem}") from problem
        return Block(genesis_header(state.root), (), ()), state

    def segments_count(self, first: bytes) -> int:
        length = LENGTH_BYTES + int.from_bytes(first[:LENGTH_BYTES], "little")
        if length > IMPORT_COUNT_MAX * SEGMENT_BYTES:
            raise BuildFailed(f"the first segment is of a block of {length} bytes, which none has")
        return len(segments_spanned(length))

    def from_segments(self, segments: Sequence[bytes]) -> Block:
        try:
            return block_of(segments)
        except InvalidJam as problem:
            raise BuildFailed(f"the segments hold no block: {problem}") from problem

    # States on disk.

    def entries(self, state: LedgerState) -> Iterable[tuple[bytes, bytes]]:
        return state.trie.items()

    def changes(self, state: LedgerState, block: Block) -> Mapping[bytes, bytes]:
        found = {key: state.trie.get(key) for key in touched_keys(block.transfers)}
        # A recipient who got nothing and never had anything is not in the state.
        return {key: value for key, value in found.items() if value is not None}

    def restored(self, entries: Iterable[tuple[bytes, bytes]]) -> LedgerState:
        return LedgerState(self.domain, Trie.of(entries))

    def root(self, state: LedgerState) -> bytes:
        return state.root


def timestamp(made_ms: int) -> int:
    """The slot of the common era, whatever the chain calls its own: no rebuild changes it."""
    return min(max(0, made_ms - JAM_ERA_MS) // SLOT_MS, TIMESTAMP_MAX)


def word(status: Status) -> str:
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


class _Batch:
    """Transactions on their way into a block; places are those of the transactions."""

    def __init__(self, domain: Domain, raws: Sequence[bytes]) -> None:
        self.transfers: dict[int, Transfer] = {}
        self.inside: list[int] = []
        self._judged: dict[int, Judgement] = {}
        self._count = len(raws)
        for place, raw in enumerate(raws):
            try:
                self.transfers[place] = read_transfer(domain, raw)
            except ValueError as problem:
                self._judge(place, Verdict.REFUSED, str(problem))

    def arrange(self, state: LedgerState) -> None:
        places = list(self.transfers)
        found = arranged(list(self.transfers.values()), lambda id_: state.account(id_).nonce)
        inside = [places[one] for one in found.inside]
        fitting = self._fitting(state, inside)
        self.inside = inside[:fitting]
        for place in inside[fitting:]:
            self._judge(place, Verdict.FULL, "its block is full")
        for one, following in found.used.items():
            self._judge_nonce(places[one], Verdict.REFUSED, USED, following)
        for one, following in found.early.items():
            # What goes before it may lie in the backlog yet: how long it waits is the lane's word.
            self._judge_nonce(places[one], Verdict.DEFERRED, EARLY, following)

    def close(self, statuses: Sequence[Status]) -> tuple[Judgement, ...]:
        """What became of each, once the block says what became of those inside."""
        for place, status in zip(self.inside, statuses, strict=True):
            if status is Status.OK:
                self._judge(place, Verdict.INCLUDED)
            else:
                self._judge(place, Verdict.REVERTED, word(status))
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

    def _judge_nonce(self, place: int, verdict: str, said: str, following: int) -> None:
        nonce = self.transfers[place].nonce
        self._judge(place, verdict, said.format(nonce=nonce, following=following))

    def _judge(self, place: int, verdict: str, reason: str = "") -> None:
        transfer = self.transfers.get(place)
        hashed = b"" if transfer is None else transfer_hash(transfer)
        self._judged[place] = Judgement(verdict=verdict, hash=hashed, reason=reason)
