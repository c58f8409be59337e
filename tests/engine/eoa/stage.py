"""A chain of a few lines behind the EvmChain port, and an account on it. Everything that a node
may say, or fail to say, is set by the test."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any

from msgspec import structs
from tests.engine.virtual import VirtualTime

from laneway.core.errors import ChainUnreachable
from laneway.core.facts import (
    AccountAtBlock,
    BlockRef,
    BlockSeen,
    BlocksSeen,
    Estimated,
    FeesSeen,
    NodeReceipts,
    NonceClaim,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    SendAnswer,
    SendKind,
    sent,
)
from laneway.core.units import amount
from laneway.engine.eoa import ChainView, EoaPerformer, EvmAccount
from laneway.engine.eoa.drafts import encode_request
from laneway.evm.secp256k1 import Signature
from laneway.lanes.eoa.fees import NO_CEILING, NO_FEE, Ceiling, EvmFee, fresh
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.values import LookAtChain, MakeAttempt, SendAttempt
from laneway.ports import EvmBlobs, EvmCall, EvmRequest
from laneway.signers.local import LocalSigner

CHAIN_ID = 7
SECRET = bytes.fromhex("11" * 32)
TO = bytes.fromhex("22" * 20)
GWEI = 10**9
AWAY = ChainUnreachable("node", "refused")
COMMITMENT = b"c" * 48
BLOBS = EvmBlobs(
    hashes=(b"\x01" + hashlib.sha256(COMMITMENT).digest()[1:],),
    version=0,
    blobs=(bytes(131_072),),
    commitments=(COMMITMENT,),
    proofs=(b"p" * 48,),
)


def ref(number: int, branch: str = "") -> BlockRef:
    return BlockRef(number, f"{branch}{number}".encode())


class FakeChain:
    """One node. Its blocks are a list; a reorg replaces the end of it."""

    nodes: tuple[str, ...] = ("node",)

    def __init__(self) -> None:
        self.blocks_now: list[BlockSeen] = [BlockSeen(ref(0), b"", ())]
        self.head_account: int | None = None
        """The block that the account is read at, if not the newest."""
        self.count = 0
        self.balance_wei = 10**20
        self.fees_said: FeesSeen | Exception = fees_of()
        self.estimate_said: Estimated | Reverted | NotEstimated | Exception = Estimated(21_000)
        self.answers: list[SendKind] = []
        """Of the next transactions; taken when there is none."""
        self.lost_receipts: set[bytes] = set()
        self.receipts_branch: str | None = None
        self.claims: list[NonceClaim] = []
        """What nodes say of any number."""
        self.heads_behind: dict[str, int] = {}
        """How far each node is behind the chain; those that are not named are not asked."""
        self.lies: dict[str, dict[bytes, ReceiptSeen | None]] = {}
        """What nodes show in place of what is true."""
        self.trouble: Exception | None = None
        self.takes_s = 0.0
        self.sent: list[list[bytes]] = []
        self.asked_nodes: list[tuple[str, ...]] = []
        """Whom each batch was for; nobody named: all."""
        self.sending = 0
        self.sending_max = 0
        self.asked: list[str] = []
        self.asked_hashes: list[list[bytes]] = []
        self.asked_blocks: list[int] = []
        self.estimated: list[EvmCall] = []
        self.heads_told: asyncio.Queue[BlockRef] = asyncio.Queue()

    # The hands that move it.

    def mine(self, *hashes: bytes, count: int = 1, branch: str = "") -> BlockRef:
        for _ in range(count):
            last = self.blocks_now[-1].block
            block = ref(last.number + 1, branch)
            self.blocks_now.append(BlockSeen(block, last.hash, tuple(hashes)))
            self.count += len(hashes)
        return self.blocks_now[-1].block

    def set_back(self, number: int) -> None:
        """The newest block is this one."""
        while self.blocks_now[-1].block.number > number:
            self.count -= len(self.blocks_now.pop().hashes)

    def newest(self) -> BlockRef:
        return self.blocks_now[-1].block

    # The port.

    def _ask(self, word: str) -> None:
        self.asked.append(word)
        if self.trouble is not None:
            raise self.trouble

    async def account(self, address: bytes) -> AccountAtBlock:
        self._ask("account")
        block = self.newest() if self.head_account is None else ref(self.head_account)
        return AccountAtBlock(self.count, self.count, self.balance_wei, block, "node")

    async def fees(self) -> FeesSeen:
        self._ask("fees")
        if isinstance(self.fees_said, Exception):
            raise self.fees_said
        return self.fees_said

    async def estimate(self, call: EvmCall) -> Estimated | Reverted | NotEstimated:
        self._ask("estimate")
        self.estimated.append(call)
        if isinstance(self.estimate_said, Exception):
            raise self.estimate_said
        return self.estimate_said

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[SendAnswer]]:
        self.asked_nodes.append(tuple(only))
        self.sending += 1
        self.sending_max = max(self.sending, self.sending_max)
        await asyncio.sleep(self.takes_s)
        self.sending -= 1
        self.sent.append(list(raws))
        kinds = [self.answers.pop(0) if self.answers else SendKind.TAKEN for _ in raws]
        return [[sent("node", kind, kind.value)] for kind in kinds]

    async def blocks(self, known: Sequence[BlockRef], limit: int, node: str = "") -> BlocksSeen:
        self._ask("blocks")
        self.asked_blocks.append(limit)
        now = self.blocks_now
        stands = None
        for block in known:
            if block.number < len(now) and now[block.number].block != block:
                break
            stands = block
        if stands is None:
            return BlocksSeen(None, (now[-1],), self.newest(), "node")
        behind = now[stands.number + 1 : stands.number + 1 + limit]
        return BlocksSeen(stands, tuple(behind), self.newest(), "node")

    async def receipts(
        self, hashes: Sequence[bytes], _blocks: Sequence[BlockSeen] = (), node: str = ""
    ) -> Sequence[ReceiptSeen | None]:
        self._ask("receipts")
        self.asked_hashes.append(list(hashes))
        return [self._receipt(one) for one in hashes]

    def _receipt(self, digest: bytes) -> ReceiptSeen | None:
        if digest in self.lost_receipts:
            return None
        for block in self.blocks_now:
            if digest in block.hashes:
                where = block.block
                if self.receipts_branch is not None:
                    where = ref(where.number, self.receipts_branch)
                return ReceiptSeen(digest, True, where, 21_000, GWEI, "node")
        return None

    async def receipts_by_node(self, hashes: Sequence[bytes]) -> Sequence[NodeReceipts]:
        self._ask("receipts_by_node")
        self.asked_hashes.append(list(hashes))
        behind = self.heads_behind or dict.fromkeys(self.nodes, 0)
        return [
            NodeReceipts(
                node,
                self.newest().number - lag,
                tuple(
                    self.lies[node][one]
                    if one in self.lies.get(node, {})
                    else self._receipt_at(one, self.newest().number - lag)
                    for one in hashes
                ),
            )
            for node, lag in behind.items()
        ]

    def _receipt_at(self, digest: bytes, head: int) -> ReceiptSeen | None:
        found = self._receipt(digest)
        return None if found is None or found.block.number > head else found

    async def at_nonce(self, address: bytes, nonce: int) -> Sequence[NonceClaim]:
        self._ask("at_nonce")
        return self.claims

    async def heads(self) -> AsyncIterator[BlockRef]:
        while True:
            yield await self.heads_told.get()

    async def close(self) -> None: ...


def fees_of(
    base_wei: int = 10 * GWEI,
    tip_wei: int = GWEI,
    blob_wei: int | None = 3,
    *,
    is_1559: bool = True,
) -> FeesSeen:
    return FeesSeen(base_wei, tip_wei, base_wei + tip_wei, blob_wei, is_1559, ref(0), "node")


class RemoteSigner:
    """A key elsewhere: it answers in its own time, or not."""

    def __init__(self) -> None:
        self._held = LocalSigner("far", SECRET)
        self.address = self._held.address
        self.error: Exception | None = None
        self.asked = 0

    async def sign(self, payload: bytes) -> Signature:
        self.asked += 1
        await asyncio.sleep(0.1)
        if self.error is not None:
            raise self.error
        return self._held.sign_now(payload)

    async def close(self) -> None: ...


class Stage:
    """One account whose key is here, or elsewhere."""

    def __init__(self, *, remote: bool = False) -> None:
        self.time = VirtualTime()
        self.chain = FakeChain()
        self.remote = RemoteSigner()
        self.view = ChainView(self.chain, self.time)
        signer = self.remote if remote else LocalSigner("here", SECRET)
        self.account = EvmAccount(CHAIN_ID, self.view, signer)
        self.lane = self.account.lane
        self.performer = EoaPerformer({self.lane: self.account}, self.time)

    def run(self, story: Coroutine[Any, Any, Any]) -> Any:
        return self.time.run(story)

    def perform(self, *effects: Any, permit: Callable[[], str | None] = lambda: None) -> Any:
        """The one event that answers effects of one class."""
        (event,) = self.run(self.performer.perform_all(self.lane, effects, permit))
        return event


def order(
    request: EvmRequest | None = None,
    *,
    nonce: int = 0,
    market: EvmFee | None = None,
    floor: EvmFee = NO_FEE,
    ceiling: Ceiling = NO_CEILING,
    purpose: str = Purpose.INTENT,
    slot: int = 1,
) -> MakeAttempt:
    if market is None:
        market = fresh(10 * GWEI, GWEI)
    asked = request or EvmRequest(to=TO, value_wei=amount(5), gas=21_000)
    payload = encode_request(asked) if purpose == Purpose.INTENT else b""
    return MakeAttempt(slot, 1, nonce, purpose, payload, market, floor, floor, ceiling)


def sending(raw: bytes, slot: int = 1, *, again: bool = False) -> SendAttempt:
    return SendAttempt(slot, 1, raw, ("node",), again)


def looking(known: BlockRef | None = None, *hashes: bytes) -> LookAtChain:
    if known is None:
        return LookAtChain(0, b"", hashes)
    return LookAtChain(known.number, known.hash, hashes)


replace = structs.replace
