"""A rollup in a few lines: hashes stand for execution, and its service has the real line.

What it makes depends on the order alone, so any process makes the same. It remembers all of it for
the laws: whose block a hash is, and whose package.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct

from laneway.core.errors import BuildFailed
from laneway.core.jam import Context, JamBlockRef, Package
from laneway.devnets.jam.model.values import NULL_AUTHORIZER, ServiceSetup
from laneway.jam.hashing import blake2b
from laneway.jam.package import WORK_PACKAGE, RefineContext, WorkItem, WorkPackage
from laneway.jam.report import Ok
from laneway.jam.service.commitment import genesis_records
from laneway.jam.service.interface import (
    Accumulation,
    Operand,
    RefineInput,
    RefineOutput,
    StorageView,
)
from laneway.jam.service.limits import OPERAND_GAS
from laneway.jam.service.sequencing import sequence
from laneway.jam.service.values import CLAIMED, Claim, Claimed
from laneway.lanes.bundle.rows import ExecutionVerdict, LineReceipt, Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion, JudgedTransaction
from laneway.ports import ExecutedBlock, MadePackage

SERVICE = 7
GENESIS_BLOCK = blake2b(b"the first block")
GENESIS_ROOT = blake2b(b"the first state")
REFINE_GAS = 1_000


class PoolRequest(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a caller wants of the rollup."""

    data: str
    way: str = "send"
    """send, revert (it fails in its block), refuse (no block takes it), later (every other block
    leaves it out), poison (no block can be built with it), unpackable (no package can be made of a
    block with it)."""


encode_request = msgspec.msgpack.Encoder().encode
decode_request = msgspec.msgpack.Decoder(PoolRequest).decode


class Body(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A block: what a lane keeps as its payload."""

    number: int
    parent: bytes
    pre_root: bytes
    made_ms: int
    inside: tuple[PoolRequest, ...]


encode_body = msgspec.msgpack.Encoder().encode
decode_body = msgspec.msgpack.Decoder(Body).decode


def block_hash(payload: bytes) -> bytes:
    return blake2b(b"block" + payload)


def digest_of(payload: bytes) -> bytes:
    return blake2b(payload)


def root_after(body: Body) -> bytes:
    return blake2b(b"root" + body.pre_root + encode_body(body.inside))


def transaction_hash(request: PoolRequest) -> bytes:
    return blake2b(b"transaction" + request.data.encode())


BlockGround: TypeAlias = tuple[bytes, bytes]
"""The block that another stands on, by its hash, and the root of the state that it left."""
NONE_DONE: Final[Mapping[bytes, LineReceipt]] = {}


class MadeVersion(Struct, frozen=True):
    """Whose package a hash is, and what it leans on."""

    block: bytes
    slot: int
    version: int
    anchor: JamBlockRef
    lookup_anchor: JamBlockRef
    prerequisites: tuple[bytes, ...]


class ClaimService:
    """It believes every claim, and puts it into the line of its rollup."""

    code_hash = blake2b(b"a service that believes")

    def refine(self, refined: RefineInput, /) -> RefineOutput:
        return RefineOutput(result=Ok(refined.payload), gas_used=1)

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int, /
    ) -> Accumulation:
        done = sequence(view, operands, slot)
        return Accumulation(writes=done.writes, yield_hash=done.yield_hash, gas_used=done.gas_used)


@lru_cache(1)
def service_setup() -> ServiceSetup:
    return ServiceSetup(
        service=ClaimService(), storage=genesis_records(GENESIS_BLOCK, GENESIS_ROOT)
    )


class Maker:
    """What every process's builder is: a function of its orders."""

    def __init__(self) -> None:
        self.blocks: dict[bytes, Body] = {}
        self.packages: dict[bytes, MadeVersion] = {}
        self.versions: dict[bytes, dict[bytes, None]] = {}
        """The packages of each block."""
        self.foreign: dict[bytes, None] = {}
        """Blocks that somebody else made."""
        self.second: dict[bytes, None] = {}
        """Those of them that the second deployment made."""
        self.offered: dict[bytes, None] = {}
        """Packages that were to be submitted, whatever the store knows of it now."""
        self.lost: dict[bytes, None] = {}
        """Packages that the store forgot when a copy was put back, or that a node alone said had
        failed."""
        self.expiries: dict[bytes, list[frozenset[bytes]]] = {}
        """The blocks that the service had whenever a transaction was called expired."""

    def execute(
        self,
        order: BuildBlock,
        ground: BlockGround | None = None,
        done: Mapping[bytes, LineReceipt] = NONE_DONE,
    ) -> ExecutedBlock:
        """`ground` is the block that it stands on, where the order leaves that to the service, and
        `done` are transactions that final blocks executed."""
        requests = [decode_request(payload) for payload in order.payloads]
        if any(
            one.way == "poison" and intent not in order.expired
            for intent, one in zip(order.intents, requests, strict=True)
        ):
            raise BuildFailed("its rules fail for one of them", final=True)
        judged = [
            judge(order, request, done) if intent not in order.expired else late(request, done)
            for intent, request in zip(order.intents, requests, strict=True)
        ]
        inside = tuple([one for one, word in zip(requests, judged, strict=True) if word in INSIDE])
        verdicts = tuple(
            [
                JudgedTransaction(
                    intent,
                    word,
                    name := transaction_hash(request),
                    "" if word in INSIDE else word,
                    done.get(name),
                )
                for intent, request, word in zip(order.intents, requests, judged, strict=True)
            ]
        )
        parent, pre_root = ground or (order.parent, order.parent_root or GENESIS_ROOT)
        if not inside:
            return ExecutedBlock(
                payload=b"",
                digest=b"",
                block=b"",
                pre_root=pre_root,
                post_root=pre_root,
                judged=verdicts,
            )
        body = Body(order.number, parent or GENESIS_BLOCK, pre_root, order.made_ms, inside)
        payload = encode_body(body)
        name = block_hash(payload)
        self.blocks[name] = body
        return ExecutedBlock(
            payload=payload,
            digest=digest_of(payload),
            block=name,
            pre_root=pre_root,
            post_root=root_after(body),
            judged=verdicts,
        )

    def package(self, order: BuildVersion, context: Context) -> MadePackage:
        if digest_of(order.payload) != order.digest:
            raise BuildFailed("the payload is not the one that was sealed", final=True)
        body = decode_body(order.payload)
        if any(one.way == "unpackable" for one in body.inside):
            raise BuildFailed("its rules fail for the work of one of them", final=True)
        made = WorkPackage(
            auth_code_host=0,
            auth_code_hash=NULL_AUTHORIZER,
            context=RefineContext(
                anchor=context.anchor.header_hash,
                state_root=context.state_root,
                beefy_root=context.beefy_root,
                lookup_anchor=context.lookup_anchor.header_hash,
                lookup_anchor_slot=context.lookup_anchor.slot,
                prerequisites=order.prerequisites,
            ),
            items=(item_of(body, block_hash(order.payload)),),
        )
        encoded = WORK_PACKAGE.encode(made)
        name = blake2b(encoded)
        self.packages[name] = MadeVersion(
            order.block,
            order.slot,
            order.version,
            context.anchor,
            context.lookup_anchor,
            order.prerequisites,
        )
        self.versions.setdefault(order.block, {})[name] = None
        return MadePackage(
            block=block_hash(order.payload), package=Package(encoded=encoded), package_hash=name
        )


INSIDE = (ExecutionVerdict.INCLUDED, ExecutionVerdict.REVERTED)


def late(request: PoolRequest, done: Mapping[bytes, LineReceipt]) -> str:
    """Of one whose time is over."""
    is_done = transaction_hash(request) in done
    return ExecutionVerdict.APPLIED if is_done else ExecutionVerdict.EXPIRED


def judge(order: BuildBlock, request: PoolRequest, done: Mapping[bytes, LineReceipt]) -> str:
    if transaction_hash(request) in done:
        return ExecutionVerdict.APPLIED
    match request.way:
        case "refuse":
            return ExecutionVerdict.REFUSED
        case "later" if order.order % 2:
            return ExecutionVerdict.DEFERRED
        case "revert":
            return ExecutionVerdict.REVERTED
        case _:
            return ExecutionVerdict.INCLUDED


def item_of(body: Body, name: bytes) -> WorkItem:
    claim = Claim(
        number=body.number,
        parent=body.parent,
        block=name,
        pre_root=body.pre_root,
        post_root=root_after(body),
    )
    return WorkItem(
        service=SERVICE,
        code_hash=ClaimService.code_hash,
        refine_gas_limit=REFINE_GAS,
        accumulate_gas_limit=OPERAND_GAS,
        payload=CLAIMED.encode(Claimed(claim)),
    )


class TellLog:
    """A receiver of notifications about blocks; they may come twice, and keep their keys."""

    def __init__(self) -> None:
        self.tells: dict[int, Tell] = {}
        """Those that the store knows of, by their ids."""
        self.meanings: dict[bytes, tuple[bytes, str]] = {}
        """What each key stood for: block and status. No copy of the store takes that back."""
        self.problem = ""

    def hear(self, tells: Sequence[Tell]) -> None:
        """A notification is the same whenever it is sent, and comes after all before it."""
        for tell in tells:
            meaning = tell.block, tell.word
            if self.meanings.setdefault(tell.key(), meaning) != meaning:
                self.problem = f"the key of {tell} was that of another notification"
            known = self.tells.get(tell.id)
            if known is not None and known != tell:
                self.problem = f"tell {tell.id} was {known}, and is {tell}"
            if known is None and tell.id != len(self.tells) + 1:
                self.problem = f"tell {tell.id} comes after {len(self.tells)} others"
            self.tells[tell.id] = tell
