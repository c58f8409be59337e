"""Performs an account lane's effects on the chain model, with all that goes wrong on the way.

Looks and proofs are the performer's own, over a port that answers at once; words are read in the
adapter's own table.
"""

from collections import Counter
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from msgspec import Struct

from laneway.chains.evm.words import Words
from laneway.core.errors import ChainError
from laneway.core.facts import SendKind
from laneway.core.ids import LaneId, Owner
from laneway.core.units import value
from laneway.devnets.evm.model import Accepted
from laneway.engine.eoa import ChainView, EvmAccount
from laneway.engine.eoa.looking import look, prove_all
from laneway.engine.eoa.sending import CHEAP
from laneway.evm.envelope import decode
from laneway.evm.keccak import keccak
from laneway.evm.transaction import cost_wei_max
from laneway.lanes.eoa.fees import Fee, clamped
from laneway.lanes.eoa.rows import Purpose
from laneway.lanes.eoa.tries import PARKED
from laneway.lanes.eoa.values import (
    AttemptsMade,
    BroadcastReturned,
    Effect,
    Event,
    LookAtChain,
    Made,
    MakeAttempt,
    NonceProven,
    NotMade,
    ProveNonce,
    ReadFailed,
    SendAttempt,
    SendResult,
)
from laneway.ports import EvmRequest
from laneway.sim.eoa.calls import CHAIN_ID, decode_request, key_of, signed
from laneway.sim.eoa.plan import GAS, SIZE_BYTES_MAX
from laneway.sim.eoa.port import KeySigner, ModelChain
from laneway.sim.eoa.witnesses import LIAR

if TYPE_CHECKING:
    from laneway.sim.eoa.world import EoaWorld
    from laneway.sim.process import Process

T = TypeVar("T")

SHORT_GAS = 20_000
"""Less than any transaction needs."""

HOPELESS = (SendKind.OVERSIZED, SendKind.GAS_LIMIT)
FICKLE = (SendKind.OVERSIZED, SendKind.INTRINSIC_GAS, SendKind.INTRINSIC_GAS)
"""What a gateway with several nodes behind it says once and not the next time."""

POISON = b"~"
"""How the content begins of what every node refuses for good, however often it is made."""

OUTAGE_MS_MAX = 8_000
"""Of a time without any node: longer than the lane waits before it makes a number dearer."""

TIMEOUT_MS = 300
CAPPED_OF_256 = 8
"""Bytes that cost more than nodes' own ceilings allow, by the first byte of their hash."""

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


class WorldClock:
    """The engine's clock, as a world without a loop has it."""

    def __init__(self, world: "EoaWorld") -> None:
        self._world = world

    def now_ms(self) -> int:
        return self._world.now_ms

    def monotonic_ms(self) -> int:
        return self._world.now_ms


class Nodes:
    """Answers what it is asked, sometimes; the chain remembers what really happened."""

    def __init__(self, world: "EoaWorld") -> None:
        self._world = world
        self._dice = world.plan.rng("nodes")
        self._names = world.plan.settings.nodes
        self._words = Words(world.plan.client)
        self.made: dict[bytes, Bytes] = {}
        self.travelling: Counter[bytes] = Counter()
        """Bytes on their way to a node."""
        self.received: dict[bytes, None] = {}
        """Bytes that reached a node, whatever it said."""
        self._dark_until_ms = 0
        """Until then no node can be reached."""
        self._gathered: dict[tuple[Process, LaneId], list[SendResult]] = {}
        self._views: dict[Owner, ChainView] = {}
        self._accounts: dict[tuple[Owner, LaneId], EvmAccount] = {}

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
                process.answered(lane, self._look(process, lane, effect))
            case ProveNonce():
                process.answered(lane, self._prove(process, lane, effect))
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
        is_poison = call.input.startswith(POISON)
        gas = SHORT_GAS if is_poison or world.chance(world.plan.gas) else GAS
        fee = offered(effect, gas)
        if fee is None:
            return NotMade(effect.slot, effect.number, False, f"{PARKED}: the fee is too high")
        cost = fee.cap * gas
        node = self._dice.randrange(len(self._names))
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
        if world.now_ms < self._dark_until_ms or world.chance(world.plan.lose):
            world.seen["node unreachable"] += 1
            self._answer(process, lane, effect, node, SendKind.UNREACHABLE)
            return
        if world.chance(world.plan.refuse):
            world.seen["refused for good by one node"] += 1
            self.received[keccak(effect.raw)] = None
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
        if self._is_above_fee_caps(effect.raw):
            # Only the one that lies passed it on.
            world.seen["lie:refusal"] += kind is SendKind.TAKEN
            kind, reason = SendKind.NODE_FEE_CAP, "tx fee exceeds the configured cap"
        if world.chance(world.plan.lose):
            world.seen["answer lost"] += 1
            self._time_out(process, lane, effect, node)
            return
        self._answer(process, lane, effect, node, kind, reason=reason, asked_ms=asked_ms)

    def _offer(self, raw: bytes, node: str) -> tuple[SendKind, str]:
        world = self._world
        digest = keccak(raw)
        self.travelling[digest] -= 1
        self.received[digest] = None
        if self._is_above_fee_caps(raw) and node != self._names[LIAR]:
            return SendKind.NODE_FEE_CAP, ""
        answer = world.chain.send(self._names.index(node), raw)
        made = self.made[digest]
        told = f"{made.data or 'a no-op'} of a{world.account(made.lane)}/{made.nonce}"
        if isinstance(answer, Accepted):
            world.note(f"{node} takes {told}")
            return SendKind.TAKEN, ""
        kind = self._words.kind(answer.code, answer.message)
        world.seen[f"node says {kind.value}"] += 1
        world.note(f"{node} says {kind.value} to {told}")
        return kind, answer.message

    def _is_above_fee_caps(self, raw: bytes) -> bool:
        """Some bytes, where one node lies: honest nodes refuse them by a rule of their own, and the
        one that lies says so too."""
        return self._world.plan.lying and self._world.faults and keccak(raw)[0] < CAPPED_OF_256

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
            policy=kind.is_policy(),
            hopeless=kind in HOPELESS,
            broke=is_poor,
            cheap=kind in CHEAP,
            used=kind is SendKind.NONCE_TOO_LOW,
            reason="" if kind is SendKind.TAKEN else reason or kind.value,
            asked_ms=asked_ms,
            needed=cost_wei_max(decode(effect.raw)) if is_poor else 0,
        )

    # Reading, by the performer's own code.

    def _look(self, process: "Process", lane: LaneId, effect: LookAtChain) -> Event:
        world = self._world
        if world.chance(world.plan.outage):
            world.seen["outage"] += 1
            self._dark_until_ms = world.now_ms + self._dice.randint(500, OUTAGE_MS_MAX)
        if world.now_ms < self._dark_until_ms:
            return ReadFailed(world.now_ms)
        try:
            seen = at_once(look(self._account(process, lane), effect, WorldClock(world)))
        except ChainError:
            seen = None
        return ReadFailed(world.now_ms) if seen is None else seen

    def _prove(self, process: "Process", lane: LaneId, effect: ProveNonce) -> NonceProven:
        now_ms = self._world.now_ms
        try:
            (proof,) = at_once(prove_all(self._account(process, lane), [effect]))
        except ChainError:
            return NonceProven(now_ms, effect.nonce, None)
        return NonceProven(now_ms, effect.nonce, proof.receipt, proof.evidence)

    def _account(self, process: "Process", lane: LaneId) -> EvmAccount:
        """An account as one process has it, from its start to its death."""
        found = self._accounts.get((process.owner, lane))
        if found is None:
            world = self._world
            view = self._views.get(process.owner)
            if view is None:
                view = ChainView(ModelChain(world, self._dice), WorldClock(world))
                self._views[process.owner] = view
            signer = KeySigner(key_of(world.account(lane)))
            found = self._accounts[process.owner, lane] = EvmAccount(CHAIN_ID, view, signer)
        return found


def at_once(asked: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never waits."""
    try:
        asked.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    raise AssertionError("it waits, and there is no loop")


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
