"""A second, tiny kind of rollup: a log. A transaction is a line of text that nobody signs, and the
state is the lines, each of them once. It is all that another distribution would write."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from laneway.core.errors import BadRequest, BuildFailed
from laneway.jam.codec import HASH, U64, Blob, Codec, Many, Record
from laneway.jam.errors import InvalidJam
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.package import ExtrinsicSpec, RefineContext, WorkItem
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.commitment import genesis_records
from laneway.jam.service.exports import body_of, exported, segments_count
from laneway.jam.service.interface import (
    Accumulation,
    Operand,
    RefineInput,
    RefineOutput,
    StorageView,
)
from laneway.jam.service.limits import OPERAND_GAS
from laneway.jam.service.sequencing import accumulate
from laneway.jam.service.values import CLAIMED, Claim, Claimed
from laneway.lanes.bundle.rows import ExecutionVerdict
from laneway.rollups.domain import Domain
from laneway.rollups.kind import KindOfRollup, Option
from laneway.rollups.rules import (
    BlockExecution,
    BlockWork,
    RollupRules,
    SealedBlock,
    TransactionOutcome,
    TransactionVerdict,
)

LINE_BYTES_MAX = 200
REFINE_GAS = 1_000_000


class LogBlock(Struct, frozen=True):
    number: int
    parent: bytes
    pre_root: bytes
    lines: tuple[bytes, ...]

    @property
    def post_root(self) -> bytes:
        return grown(self.pre_root, self.lines)


class LogState(Struct, frozen=True):
    lines: tuple[bytes, ...] = ()

    @property
    def root(self) -> bytes:
        return grown(ZERO_HASH, self.lines)


BLOCK: Codec[LogBlock] = Record(
    LogBlock, number=U64, parent=HASH, pre_root=HASH, lines=Many(Blob(LINE_BYTES_MAX), 64)
)


def grown(root: bytes, lines: Iterable[bytes]) -> bytes:
    for line in lines:
        root = blake2b(root + line)
    return root


def claim_of(block: LogBlock) -> Claim:
    return Claim(
        number=block.number,
        parent=block.parent,
        block=blake2b(BLOCK.encode(block)),
        pre_root=block.pre_root,
        post_root=block.post_root,
    )


class LogService:
    def __init__(self, chain: bytes) -> None:
        self.code_hash = blake2b(b"log" + chain)

    def refine(self, given: RefineInput, /) -> RefineOutput:
        """The lines of a block need nothing of the state but its root."""
        try:
            block = BLOCK.decode(given.extrinsics[0], "block")
        except InvalidJam:
            return RefineOutput(result=WorkError.PANIC, gas_used=0)
        claimed = Ok(CLAIMED.encode(Claimed(claim_of(block))))
        return RefineOutput(result=claimed, exports=exported(given.extrinsics[0]), gas_used=1)

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int, /
    ) -> Accumulation:
        return accumulate(view, operands, slot)


class LogRules(RollupRules[LogState, LogBlock]):
    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def checked(self, raw: bytes) -> bytes:
        if not 0 < len(raw) <= LINE_BYTES_MAX:
            raise BadRequest("transaction", f"a line has 1 to {LINE_BYTES_MAX} bytes")
        return blake2b(raw)

    def stale(self, raw: bytes, state: LogState) -> str:
        return "it is in the log" if raw in state.lines else ""

    def execute(
        self, state: LogState, parent: LogBlock, raws: Sequence[bytes], made_ms: int
    ) -> BlockExecution[LogState, LogBlock]:
        lines: list[bytes] = []
        judged: list[TransactionVerdict] = []
        for raw in raws:
            problem = self.stale(raw, LogState((*state.lines, *lines)))
            verdict = ExecutionVerdict.REFUSED if problem else ExecutionVerdict.INCLUDED
            judged.append(TransactionVerdict(verdict=verdict, hash=blake2b(raw), reason=problem))
            lines += () if problem else (raw,)
        if not lines:
            return BlockExecution(None, state, tuple(judged))
        made = LogBlock(parent.number + 1, self.sealed(parent).hash, state.root, tuple(lines))
        return BlockExecution(made, self.replay(state, parent, made), tuple(judged))

    def replay(self, state: LogState, parent: LogBlock, block: LogBlock) -> LogState:
        if (block.parent, block.pre_root) != (self.sealed(parent).hash, state.root):
            raise BuildFailed(f"block {block.number} is on another one", final=True)
        return LogState((*state.lines, *block.lines))

    def sealed(self, block: LogBlock) -> SealedBlock:
        claim = claim_of(block)
        return SealedBlock(
            number=claim.number,
            hash=claim.block,
            parent=claim.parent,
            pre_root=claim.pre_root,
            post_root=claim.post_root,
        )

    def encode(self, block: LogBlock) -> bytes:
        return BLOCK.encode(block)

    def decode(self, payload: bytes) -> LogBlock:
        try:
            return BLOCK.decode(payload, "block")
        except InvalidJam as problem:
            raise BuildFailed(str(problem), final=True) from problem

    def outcomes(self, block: LogBlock) -> tuple[TransactionOutcome, ...]:
        return tuple(TransactionOutcome(blake2b(line), "ok") for line in block.lines)

    def work(self, state: LogState, block: LogBlock) -> BlockWork:
        raw = BLOCK.encode(block)
        item = WorkItem(
            service=self.domain.service,
            code_hash=LogService(self.domain.chain).code_hash,
            refine_gas_limit=REFINE_GAS,
            accumulate_gas_limit=OPERAND_GAS,
            export_count=len(exported(raw)),
            payload=b"",
            extrinsic=(ExtrinsicSpec(blake2b(raw), len(raw)),),
        )
        return BlockWork((item,), (raw,))

    def refine(
        self, block: LogBlock, work: BlockWork, context: RefineContext, package_hash: bytes
    ) -> None:
        if work.extrinsics != (BLOCK.encode(block),):
            raise BuildFailed("the work is of another block", final=True)

    def genesis(self, raw: bytes) -> tuple[LogBlock, LogState]:
        return GENESIS, LogState()

    def segments_count(self, first: bytes) -> int:
        return segments_count(first)

    def from_segments(self, segments: Sequence[bytes]) -> LogBlock:
        return self.decode(body_of(segments))

    def entries(self, state: LogState) -> Iterable[tuple[bytes, bytes]]:
        return [(place.to_bytes(8, "big"), line) for place, line in enumerate(state.lines)]

    def changes(self, state: LogState, block: LogBlock) -> Mapping[bytes, bytes]:
        return dict(self.entries(state)[-len(block.lines) :])  # type: ignore[index]

    def restored(self, entries: Iterable[tuple[bytes, bytes]]) -> LogState:
        return LogState(tuple(line for _, line in entries))

    def root(self, state: LogState) -> bytes:
        return state.root


GENESIS = LogBlock(0, ZERO_HASH, ZERO_HASH, ())


class LogKind(KindOfRollup[LogState, LogBlock]):
    name = "log"
    genesis_key = b"l"
    options = (Option(flag="--line", reads="text", help="A line for a log."),)
    about = "In a log it writes a line."
    example = "--line hello"

    def rules(self, domain: Domain) -> LogRules:
        return LogRules(domain)

    def service(self, chain: bytes) -> LogService:
        return LogService(chain)

    def dev_storage(self) -> Mapping[bytes, bytes]:
        claim = claim_of(GENESIS)
        return {**genesis_records(claim.block, claim.post_root), self.genesis_key: b"log"}

    def transaction(self, domain: Domain, values: Mapping[str, Any], nonce: int) -> bytes:
        line: str = values["line"]
        return (line if nonce == 0 else f"{line} {nonce}").encode()
