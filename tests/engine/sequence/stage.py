"""A chain of a few lines behind the CosmosChain port, and an account on it. Everything that a node
may say, or fail to say, is set by the test."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import structs
from tests.engine.virtual import VirtualTime

from laneway.core.cosmos import (
    CosmosLook,
    GasSeen,
    OfferAnswer,
    OfferKind,
    TxSeen,
    TxStanding,
)
from laneway.core.errors import ChainUnreachable
from laneway.cosmos.blobs import namespace_of
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.engine.sequence import CosmosAccount, CosmosView, SequencePerformer
from laneway.engine.sequence.drafts import encode_request
from laneway.lanes.sequence.rows import Purpose
from laneway.lanes.sequence.values import LookAtNode, MakeAttempt, OfferToNode
from laneway.ports import CosmosBlob, CosmosRequest
from laneway.signers.cosmos import LocalCosmosSigner

CHAIN_ID = "stage-1"
NODE = "node"
SECRET = bytes.fromhex("11" * 32)
TO = "celestia1w508d6qejxtdg4y5r3zarvary0c5xw7kthx244"
AWAY = ChainUnreachable(NODE, "refused")
HEIGHT = 100
NAMESPACE = namespace_of(b"stage")
PRICE_MICRO = 4_000


def payment(amount: int = 5, **words: Any) -> CosmosRequest:
    message = MsgSend("celestia1from", TO, (Coin("utia", str(amount)),))
    return CosmosRequest(messages=((MsgSend.url, encode(message)),), **words)


def publication(size: int = 100, **words: Any) -> CosmosRequest:
    blob = CosmosBlob(NAMESPACE, bytes(size), words.pop("share_version", 0))
    return CosmosRequest(blobs=(blob,), **words)


class FakeChain:
    """One node, or several of one mind."""

    nodes: tuple[str, ...] = (NODE,)

    def __init__(self) -> None:
        self.price_said: float | None = 0.004
        self.gas_said: GasSeen = GasSeen(70_000)
        self.answers: list[OfferKind] = []
        """Of the next transactions; taken when there is none."""
        self.look_said = CosmosLook(NODE, HEIGHT, None, (), CHAIN_ID)
        self.owner: TxSeen | None = None
        self.trouble: Exception | None = None
        self.takes_s = 0.0
        self.asked: list[str] = []
        self.simulated: list[bytes] = []
        self.sent: list[tuple[tuple[str, ...], list[bytes]]] = []
        self.looked: list[tuple[str, str, tuple[bytes, ...]]] = []
        self.under_way = 0
        self.under_way_max = 0

    async def _ask(self, word: str) -> None:
        self.asked.append(word)
        self.under_way += 1
        self.under_way_max = max(self.under_way, self.under_way_max)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.under_way -= 1
        if self.trouble is not None:
            raise self.trouble

    async def send(
        self, raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[OfferAnswer]]:
        await self._ask("send")
        self.sent.append((tuple(only), list(raws)))
        (node,) = only
        kinds = [self.answers.pop(0) if self.answers else OfferKind.TAKEN for _ in raws]
        return [[OfferAnswer(node, kind, log=kind.value)] for kind in kinds]

    async def look(self, node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        self.looked.append((node, address, tuple(hashes)))
        await self._ask("look")
        return self.look_said

    async def used_by(self, address: str, sequence: int) -> Sequence[TxSeen]:
        await self._ask("used_by")
        return () if self.owner is None else (self.owner,)

    async def gas_price(self, priority: int = 2) -> float | None:
        await self._ask("gas_price")
        return self.price_said

    async def gas_used(self, raw: bytes) -> GasSeen:
        self.simulated.append(raw)
        await self._ask("gas_used")
        return self.gas_said

    async def close(self) -> None: ...


class RemoteSigner:
    """A key elsewhere: it answers in its own time, or not."""

    def __init__(self) -> None:
        self._held = LocalCosmosSigner("far", SECRET)
        self.public_key = self._held.public_key
        self.error: Exception | None = None
        self.asked = 0

    async def sign(self, payload: bytes) -> bytes:
        self.asked += 1
        await asyncio.sleep(0.1)
        if self.error is not None:
            raise self.error
        return self._held.sign_now(payload)

    async def close(self) -> None: ...


class Stage:
    """One account whose key is here, or elsewhere."""

    def __init__(
        self,
        *,
        remote: bool = False,
        price_micro: int | None = None,
        price_micro_min: int = 0,
        price_micro_max: int | None = None,
        offers_at_once: int = 64,
        looks_at_once: int = 64,
        **words: Any,
    ) -> None:
        self.time = VirtualTime()
        self.chain = FakeChain()
        self.remote = RemoteSigner()
        self.view = CosmosView(
            self.chain,
            self.time,
            chain_id=CHAIN_ID,
            prefix="celestia",
            denom="utia",
            price_micro=price_micro,
            price_micro_min=price_micro_min,
            price_micro_max=price_micro_max,
        )
        signer = self.remote if remote else LocalCosmosSigner("here", SECRET)
        self.account = CosmosAccount(self.view, signer, timeout_blocks=30, **words)
        self.lane = self.account.lane
        self.performer = SequencePerformer(
            {self.lane: self.account},
            self.time,
            offers_at_once=offers_at_once,
            looks_at_once=looks_at_once,
        )

    def run(self, story: Coroutine[Any, Any, Any]) -> Any:
        return self.time.run(story)

    def perform_all(self, *effects: Any, permit: Callable[[], str | None] = lambda: None) -> Any:
        return self.run(self.performer.perform_all(self.lane, effects, permit))

    def perform(self, *effects: Any, permit: Callable[[], str | None] = lambda: None) -> Any:
        """The one event that answers effects of one class."""
        (event,) = self.perform_all(*effects, permit=permit)
        return event


def order(
    request: CosmosRequest | None = None,
    *,
    sequence: int = 3,
    purpose: str = Purpose.INTENT,
    slot: int = 1,
    number: int = 1,
) -> MakeAttempt:
    asked = request or payment(gas=100_000)
    payload = encode_request(asked) if purpose == Purpose.INTENT else b""
    return MakeAttempt(slot, number, sequence, 7, HEIGHT, purpose, payload)


def offering(*raws: bytes, node: str = NODE, first: int = 3, again: int = 0) -> OfferToNode:
    hashes = tuple(b"hash of " + raw for raw in raws)
    return OfferToNode(node, 5, 2, first, hashes, raws, again)


def looking(*hashes: bytes, node: str = NODE) -> LookAtNode:
    return LookAtNode(node, 2, 9, hashes)


def seen(standing: TxStanding = TxStanding.COMMITTED) -> TxSeen:
    return TxSeen(b"hash", standing, HEIGHT)


replace = structs.replace
