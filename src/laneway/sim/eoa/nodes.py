"""Performs an account lane's effects on the chain model, with all that goes wrong on the way.

It keeps what the real performer and adapter promise: a look comes from a node that is not behind
the block it is asked from, a block is called gone only when another stands at its height, a proof
shows the transaction that was mined, and words are read in the adapter's own table.
"""

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from laneway.chains.evm.words import Words
from laneway.core.facts import SendKind
from laneway.core.ids import LaneId
from laneway.core.units import value
from laneway.devnets.evm.block import Block
from laneway.devnets.evm.model import Accepted
from laneway.devnets.evm.model import Receipt as Mined
from laneway.evm.envelope import decode
from laneway.evm.keccak import keccak
from laneway.evm.transaction import cost_wei_max
from laneway.lanes.eoa.fees import Fee, clamped
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.tries import PARKED
from laneway.lanes.eoa.values import (
    AttemptsMade,
    BroadcastReturned,
    ChainRead,
    Effect,
    Event,
    LookAtChain,
    Made,
    MakeAttempt,
    NonceProven,
    NotMade,
    ProveNonce,
    ReadFailed,
    Receipt,
    SendAttempt,
    SendResult,
)
from laneway.ports import EvmRequest
from laneway.sim.eoa.calls import decode_request, key_of, signed
from laneway.sim.eoa.plan import GAS, GWEI, NODES, SIZE_BYTES_MAX

if TYPE_CHECKING:
    from laneway.sim.eoa.world import EoaWorld
    from laneway.sim.process import Process

SHORT_GAS = 20_000
"""Less than any transaction needs."""

HOPELESS = (SendKind.OVERSIZED, SendKind.GAS_LIMIT)
FICKLE = (SendKind.OVERSIZED, SendKind.INTRINSIC_GAS, SendKind.INTRINSIC_GAS)
"""What a gateway with several nodes behind it says once and not the next time."""

LIES_WEI = (30 * GWEI, 4 * 10**17)
"""Tips that no honest node names: one that the default ceiling lets pass, and one that would cost
24,000 ether."""

TIMEOUT_MS = 300
LATE_MS_MAX = 2_500
"""Bytes that were given up as lost arrive as late as this."""


class Bytes(Struct, frozen=True):
    """What was made once, for the laws: whose bytes a hash is."""

    lane: LaneId
    nonce: int
    slot: int
    data: str
    sound: bool
    """Whether any node can take them."""


class Nodes:
    """Answers what it is asked, sometimes; the chain remembers what really happened."""

    def __init__(self, world: "EoaWorld") -> None:
        self._world = world
        self._dice = world.plan.rng("nodes")
        self._words = Words(world.plan.client)
        self.made: dict[bytes, Bytes] = {}
        self.travelling: Counter[bytes] = Counter()
        """Bytes on their way to a node."""
        self._gathered: dict[tuple[Process, LaneId], list[SendResult]] = {}

    def perform(self, process: "Process", lane: LaneId, effect: Effect) -> None:
        match effect:
            case MakeAttempt():
                made = self._make(lane, effect)
                process.answered(lane, AttemptsMade(self._world.now_ms, (made,)))
            case SendAttempt():
                for observer in self._world.observers:
                    observer.leaving(process, lane, effect)
                for node in effect.nodes:
                    self._send(process, lane, effect, node)
            case LookAtChain():
                process.answered(lane, self._look(lane, effect))
            case ProveNonce():
                process.answered(lane, self._prove(lane, effect))
            case _:
                assert_never(effect)

    def sign_at_once(
        self, lane: LaneId, effects: list[Effect], now_ms: int
    ) -> tuple[Event | None, list[Effect]]:
        """Signing is part of the turn that orders it, where the key is held here."""
        made = [self._make(lane, one) for one in effects if isinstance(one, MakeAttempt)]
        rest: list[Effect] = [one for one in effects if not isinstance(one, MakeAttempt)]
        return (AttemptsMade(now_ms, tuple(made)) if made else None), rest

    def declined(self, effect: Effect, now_ms: int, reason: str) -> Event:
        match effect:
            case MakeAttempt(slot=slot, number=number):
                return AttemptsMade(now_ms, (NotMade(slot, number, final=False, reason=reason),))
            case SendAttempt():
                told = [self._told(effect, node, SendKind.UNREACHABLE) for node in effect.nodes]
                return BroadcastReturned(now_ms, tuple(told))
            case LookAtChain():
                return ReadFailed(now_ms)
            case ProveNonce(nonce=nonce):
                return NonceProven(now_ms, nonce, None)
            case _:
                assert_never(effect)

    # The signer.

    def _make(self, lane: LaneId, effect: MakeAttempt) -> Made | NotMade:
        world = self._world
        account = world.account(lane)
        own = EvmRequest(world.sky.accounts[account])
        call = decode_request(effect.payload) if effect.purpose == Purpose.INTENT else own
        if call.input.startswith(b"!"):
            reverts = not call.input.endswith(b"!")
            return NotMade(effect.slot, effect.number, True, "it reverts", reverts=reverts)
        if world.chance(world.plan.sign):
            return NotMade(effect.slot, effect.number, final=False, reason="the signer is away")
        gas = SHORT_GAS if world.chance(world.plan.gas) else GAS
        fee = offered(effect, gas)
        if fee is None:
            return NotMade(effect.slot, effect.number, False, f"{PARKED}: the fee is too high")
        cost = fee.cap * gas
        node = self._dice.randrange(len(NODES))
        needed = cost + value(call.value_wei)
        if needed > world.chain.balance(node, world.sky.accounts[account]):
            return NotMade(effect.slot, effect.number, False, "no funds", broke=True, needed=needed)
        sealed = signed(key_of(account), effect.nonce, call, fee, gas)
        data = call.input.decode().rstrip()
        sound = gas == GAS and len(sealed.raw) <= SIZE_BYTES_MAX
        self.made[sealed.hash] = Bytes(lane, effect.nonce, effect.slot, data, sound)
        return Made(effect.slot, effect.number, sealed.raw, sealed.hash, fee, gas, cost)

    # Sending.

    def _send(self, process: "Process", lane: LaneId, effect: SendAttempt, node: str) -> None:
        world = self._world
        if world.chance(world.plan.lose):
            world.seen["node unreachable"] += 1
            self._answer(process, lane, effect, node, SendKind.UNREACHABLE)
            return
        if world.chance(world.plan.refuse):
            world.seen["refused for good by one node"] += 1
            self._answer(process, lane, effect, node, self._dice.choice(FICKLE))
            return
        if world.chance(world.plan.double):
            world.seen["bytes doubled"] += 1
            self._travel(self._dice.randint(0, LATE_MS_MAX), effect.raw, node)
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            self._travel(self._dice.randint(0, LATE_MS_MAX), effect.raw, node)
            self._time_out(process, lane, effect, node)
            return
        # On the way they no longer belong to the process: a kill does not call them back.
        self.travelling[keccak(effect.raw)] += 1
        asked_ms = world.now_ms

        def arrive() -> None:
            self._arrive(process, lane, effect, node, asked_ms)

        world.after(world.delay(), "offer", arrive)

    def _travel(self, delay_ms: int, raw: bytes, node: str) -> None:
        """Bytes whose answer nobody waits for."""
        self.travelling[keccak(raw)] += 1
        self._world.after(delay_ms, "late bytes", lambda: self._forgotten(raw, node))

    def _forgotten(self, raw: bytes, node: str) -> None:
        self._offer(raw, node)

    def _arrive(
        self, process: "Process", lane: LaneId, effect: SendAttempt, node: str, asked_ms: int
    ) -> None:
        world = self._world
        kind, reason = self._offer(effect.raw, node)
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            self._time_out(process, lane, effect, node)
            return
        self._answer(process, lane, effect, node, kind, reason=reason, asked_ms=asked_ms)

    def _offer(self, raw: bytes, node: str) -> tuple[SendKind, str]:
        world = self._world
        digest = keccak(raw)
        self.travelling[digest] -= 1
        answer = world.chain.send(NODES.index(node), raw)
        made = self.made[digest]
        told = f"{made.data or 'a no-op'} of a{world.account(made.lane)}/{made.nonce}"
        if isinstance(answer, Accepted):
            world.note(f"{node} takes {told}")
            return SendKind.TAKEN, ""
        kind = self._words.kind(answer.code, answer.message)
        world.seen[f"node says {kind.value}"] += 1
        world.note(f"{node} says {kind.value} to {told}")
        return kind, answer.message

    def _time_out(self, process: "Process", lane: LaneId, effect: SendAttempt, node: str) -> None:
        def give_up() -> None:
            self._answer(process, lane, effect, node, SendKind.SILENT)

        self._world.after(TIMEOUT_MS, "no answer", give_up, process)

    def _answer(
        self,
        process: "Process",
        lane: LaneId,
        effect: SendAttempt,
        node: str,
        kind: SendKind,
        *,
        reason: str = "",
        asked_ms: int = 0,
    ) -> None:
        result, world = self._told(effect, node, kind, reason, asked_ms), self._world
        if not world.plan.gather_ms:
            process.answered(lane, BroadcastReturned(world.now_ms, (result,)))
            return
        gathered = self._gathered.setdefault((process, lane), [])
        gathered.append(result)
        if len(gathered) == 1:
            world.after(
                world.plan.gather_ms, "answers", lambda: self._answer_all(process, lane), process
            )

    def _answer_all(self, process: "Process", lane: LaneId) -> None:
        """As a batch is answered: in the order of slots, and of nodes."""
        results = self._gathered.pop((process, lane))
        results.sort(key=lambda one: (one.slot, one.number, one.node))
        process.answered(lane, BroadcastReturned(self._world.now_ms, tuple(results)))

    def _told(
        self, effect: SendAttempt, node: str, kind: SendKind, reason: str = "", asked_ms: int = 0
    ) -> SendResult:
        is_poor = kind is SendKind.INSUFFICIENT_FUNDS
        return SendResult(
            effect.slot,
            effect.number,
            node,
            kind.outcome(),
            first=not effect.again,
            final=kind.is_final(),
            hopeless=kind in HOPELESS,
            broke=is_poor,
            used=kind is SendKind.NONCE_TOO_LOW,
            reason="" if kind is SendKind.TAKEN else reason or kind.value,
            asked_ms=asked_ms,
            needed=cost_wei_max(decode(effect.raw)) if is_poor else 0,
        )

    # Reading.

    def _look(self, lane: LaneId, effect: LookAtChain) -> Event:
        world, chain = self._world, self._world.chain
        node = self._dice.randrange(len(NODES))
        head = chain.head(node)
        if world.chance(world.plan.lose):
            return ReadFailed(world.now_ms)
        if head.number < effect.block:
            world.seen["node behind"] += 1
            return ReadFailed(world.now_ms)
        fork = self._fork(effect, node)
        known = effect.block if fork is None else fork
        receipts = self._receipts(node, known, head, effect.hashes) if effect.block_hash else ()
        address = world.sky.accounts[world.account(lane)]
        fees = chain.fees(node)
        return ChainRead(
            now_ms=world.now_ms,
            since=effect.block_hash,
            latest=chain.count(node, address, "latest"),
            preconfirmed=chain.count(node, address, "latest"),
            balance=chain.balance(node, address),
            base_fee=fees.base_fee_next_wei,
            tip=self._tip(fees.tip_wei),
            block=head.number,
            block_hash=head.hash,
            receipts=receipts,
            fork=fork,
            fork_hash=b"" if fork is None else self._at(node, fork).hash,
        )

    def _tip(self, honest_wei: int) -> int:
        if not self._world.chance(self._world.plan.fee_lie):
            return honest_wei
        self._world.seen["fee lie"] += 1
        return self._dice.choice(LIES_WEI)

    def _at(self, node: int, number: int) -> Block:
        block = self._world.chain.block(node, number)
        assert block is not None
        return block

    def _fork(self, effect: LookAtChain, node: int) -> int | None:
        """Where the node's branch and the one we knew part, if they do."""
        world = self._world
        if not effect.block_hash or self._at(node, effect.block).hash == effect.block_hash:
            return None
        if self._dice.random() < 0.3:
            # After a restart no other block is known; deeper than finality none is taken back.
            return max(0, effect.block - world.plan.settings.finality_depth_blocks)
        block = world.sky.blocks[effect.block_hash]
        while self._at(node, block.number).hash != block.hash:
            block = world.sky.blocks[block.parent]
        return block.number

    def _receipts(
        self, node: int, known: int, head: Block, hashes: tuple[bytes, ...]
    ) -> tuple[Receipt, ...]:
        asked = dict.fromkeys(hashes)
        return tuple(
            shown(self._world.chain.receipt(node, digest))
            for number in range(known + 1, head.number + 1)
            for digest in self._at(node, number).transactions
            if digest in asked
        )

    def _prove(self, lane: LaneId, effect: ProveNonce) -> NonceProven:
        world, chain = self._world, self._world.chain
        node = self._dice.randrange(len(NODES))
        nothing = NonceProven(world.now_ms, effect.nonce, None)
        if world.chance(world.plan.lose) or chain.head(node).number < effect.block:
            return nothing
        address = world.sky.accounts[world.account(lane)]
        found = chain.transaction_at(node, address, effect.nonce)
        if found is None or found.block is None:
            return nothing
        receipt = shown(chain.receipt(node, found.sent.hash))
        return NonceProven(world.now_ms, effect.nonce, receipt, chain.head(node).number)


def offered(effect: MakeAttempt, gas: int) -> Fee | None:
    """What an attempt offers within its ceilings, as the engine has it; None: it is parked."""
    market, least, bound = effect.market, effect.least, effect.ceiling
    tip = max(effect.floor.tip, market.tip)
    cap: int | None = max(effect.floor.cap, market.cap)
    base_wei = (market.cap - market.tip) // 2
    needed = max(base_wei + max(market.tip, least.tip), least.cap)
    by_cost = None if bound.cost_wei is None else bound.cost_wei // gas
    for wei in (bound.asked_wei, by_cost):
        if wei is not None and cap is not None:
            cap = clamped(cap, wei, needed)
    return None if cap is None else Fee(cap, min(tip, cap))


def shown(mined: Mined | None) -> Receipt:
    assert mined is not None
    return Receipt(
        mined.hash, mined.number, mined.block, mined.succeeded, mined.gas_used, mined.price_wei
    )
