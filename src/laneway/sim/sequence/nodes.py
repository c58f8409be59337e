"""Performs a sequence lane's effects on the chain model, with all that goes wrong on the way.

It keeps what the real performer and adapter promise: a node is offered one transaction behind the
other and nothing behind one that it did not take, what one look shows is in the order in which it
was read, and words are read in the adapter's own table.
"""

from collections import Counter
from typing import TYPE_CHECKING, assert_never

from msgspec import Struct

from laneway.chains.cosmos.words import Words, expected_in
from laneway.core.cosmos import CosmosLook, Offered, OfferKind, Standing, TxSeen
from laneway.core.ids import LaneId
from laneway.core.majority import final_quorum
from laneway.core.outcome import Outcome
from laneway.devnets.cosmos.model import Committed
from laneway.devnets.cosmos.words import Verdict
from laneway.lanes.sequence.rows import Purpose
from laneway.lanes.sequence.values import (
    AttemptsMade,
    Effect,
    Event,
    LookAtNode,
    LookFailed,
    Made,
    MakeAttempt,
    NodeLooked,
    NotMade,
    OfferReturned,
    OfferToNode,
    ProveSequence,
    SequenceProven,
)
from laneway.sim.sequence.calls import (
    CHAIN_ID,
    FILLER,
    ORIGIN,
    UNSOUND,
    address_of,
    decode_request,
    signed,
)
from laneway.sim.sequence.liar import Bytes, Liar

if TYPE_CHECKING:
    from laneway.sim.process import Process
    from laneway.sim.sequence.world import CosmosWorld

FICKLE = (
    OfferKind.REFUSED,
    OfferKind.FEE_TOO_LOW,
    OfferKind.WRONG_SEQUENCE,
    OfferKind.MEMPOOL_FULL,
    OfferKind.TIMED_OUT,
    OfferKind.UNAUTHORIZED,
)
"""What a node says once and not the next time."""
MUMBLED = (OfferKind.UNKNOWN, OfferKind.RATE_LIMITED, OfferKind.SILENT)

TIMEOUT_MS = 300
LATE_MS_MAX = 3_000
"""Bytes that were given up as lost arrive as late as this."""

RPC_ERROR = -32603
NOT_OFFERED = "not offered: one before it was not taken"


class Offer(Struct):
    """One order on its way: what was answered so far."""

    process: "Process"
    lane: LaneId
    effect: OfferToNode
    fence: int
    answers: list[Offered]


class Nodes:
    """Answers what it is asked, sometimes; the chain remembers what really happened."""

    def __init__(self, world: "CosmosWorld") -> None:
        self._world = world
        self._dice = world.plan.rng("nodes")
        self._words = Words()
        self.made: dict[bytes, Bytes] = {}
        self._liar = Liar(world, self.made)
        self.travelling: Counter[bytes] = Counter()
        """Bytes on their way to a node."""
        self.withheld: dict[tuple[LaneId, int], None] = {}
        """Numbers whose user was asked for and not shown by a majority of honest nodes."""
        self.under_way: dict[tuple[str, LaneId, str, int], None] = {}
        """Offers that are not answered yet: of a process, a lane, to a node, in one life."""

    def perform(self, process: "Process", lane: LaneId, effect: Effect) -> None:
        match effect:
            case MakeAttempt():
                made = self._make(lane, effect)
                process.answered(lane, AttemptsMade(self._world.now_ms, (made,)))
            case OfferToNode():
                for observer in self._world.observers:
                    observer.leaving(process, lane, effect)
                offer = Offer(process, lane, effect, self._world.fence(lane), [])
                self.under_way[place_of(offer)] = None
                self._go_on(offer)
            case LookAtNode():
                self._look(process, lane, effect)
            case ProveSequence(sequence=sequence):
                process.answered(lane, self._prove(lane, sequence))
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
            case OfferToNode(node=node):
                kept = Offered(node, OfferKind.UNREACHABLE, log=reason)
                return self._returned(effect, now_ms, [kept] * len(effect.raws))
            case LookAtNode(node=node):
                return LookFailed(now_ms, node)
            case ProveSequence(sequence=sequence):
                for lane in self._world.lanes:
                    self.withheld[lane, sequence] = None
                return SequenceProven(now_ms, sequence, ())
            case _:
                assert_never(effect)

    # The signer.

    def _make(self, lane: LaneId, effect: MakeAttempt) -> Made | NotMade:
        world, sky = self._world, self._world.sky
        is_intent = effect.purpose == Purpose.INTENT
        request = decode_request(effect.payload) if is_intent else FILLER
        slot, number = effect.slot, effect.number
        if request.way == "hopeless":
            return NotMade(slot, number, final=True, reason="no signer makes it")
        if request.way == "failing" and self._dice.random() < 0.7:
            return NotMade(slot, number, final=False, reason="it would fail", fails=True)
        if request.until and effect.height >= request.until:
            return NotMade(slot, number, final=True, reason="too late", expired=True)
        if world.chance(world.plan.sign):
            return NotMade(slot, number, final=False, reason="the signer is away")
        timeout = effect.height + world.plan.settings.timeout_blocks
        timeout = min(timeout, request.until) if request.until else timeout
        drafted = signed(
            world.account(lane),
            request,
            number=effect.account_number,
            sequence=effect.sequence,
            timeout_height=timeout,
            price_micro=sky.prices[self._dice.randrange(len(sky.names))],
        )
        raw, hash_ = drafted.signed.raw, drafted.signed.hash
        is_sound = request.way not in UNSOUND
        self.made[hash_] = Bytes(lane, effect.sequence, slot, request.data, timeout, is_sound)
        return Made(slot, number, raw, hash_, drafted.gas, drafted.fee, timeout)

    # Offering.

    def _go_on(self, offer: Offer) -> None:
        """The next one of an order, right after it was asked whether that may be done."""
        world, process, effect = self._world, offer.process, offer.effect
        place = len(offer.answers)
        if place == len(effect.raws):
            self._finish(offer)
            return
        is_ours = process.reactor.owns(offer.lane, offer.fence)
        node = world.sky.names.index(effect.node)
        if not process.may_act() or not is_ours or not world.sky.is_near(node):
            self._heard(offer, Offered(effect.node, OfferKind.UNREACHABLE))
            return
        if world.chance(world.plan.lose):
            world.seen["node unreachable"] += 1
            self._heard(offer, Offered(effect.node, OfferKind.UNREACHABLE))
            return
        if world.chance(world.plan.refuse):
            world.seen["refused by whim"] += 1
            self._heard(offer, Offered(effect.node, self._dice.choice(FICKLE), 1, "x", "a whim"))
            return
        raw, hash_ = effect.raws[place], effect.hashes[place]
        if world.chance(world.plan.lose):
            world.seen["bytes late"] += 1
            self._travel(effect.node, raw, hash_)
            self._time_out(offer)
            return
        # On the way they no longer belong to the process: a kill does not call them back.
        self.travelling[hash_] += 1
        world.after(world.delay(), "offer", lambda: self._arrive(offer, raw, hash_))

    def _travel(self, node: str, raw: bytes, hash_: bytes) -> None:
        """Bytes whose answer nobody waits for."""
        self.travelling[hash_] += 1
        delay_ms = self._dice.randint(0, LATE_MS_MAX)
        self._world.after(delay_ms, "late bytes", lambda: self._forgotten(node, raw, hash_))

    def _forgotten(self, node: str, raw: bytes, hash_: bytes) -> None:
        self._hand(node, raw, hash_)

    def _arrive(self, offer: Offer, raw: bytes, hash_: bytes) -> None:
        world, node = self._world, offer.effect.node
        answer = self._hand(node, raw, hash_)
        is_silent = world.chance(world.plan.lose)
        if is_silent or world.chance(world.plan.mumble):
            world.seen["answer lost"] += 1
            answer = Offered(node, OfferKind.SILENT if is_silent else self._dice.choice(MUMBLED))
        if answer.kind in (OfferKind.TAKEN, *MUMBLED) and world.chance(world.plan.double):
            # Whoever was refused knows that it arrived, and nobody sends it again for them.
            world.seen["bytes doubled"] += 1
            self._travel(node, raw, hash_)
        if answer.kind is OfferKind.SILENT:
            self._time_out(offer)
        else:
            world.after(world.delay(), "heard", lambda: self._heard(offer, answer), offer.process)

    def _time_out(self, offer: Offer) -> None:
        silent = Offered(offer.effect.node, OfferKind.SILENT)
        self._world.after(
            TIMEOUT_MS, "no answer", lambda: self._heard(offer, silent), offer.process
        )

    def _hand(self, node: str, raw: bytes, hash_: bytes) -> Offered:
        """The node itself, and what its answer proves."""
        world = self._world
        self.travelling[hash_] -= 1
        place = world.sky.names.index(node)
        if not world.sky.is_up(place):
            return Offered(node, OfferKind.SILENT)
        if self._liar.drops(node):
            return Offered(node, OfferKind.TAKEN)
        said = world.sky.offer(place, raw)
        answer = self._liar.answer(self._judged(node, said))
        made = self.made[hash_]
        told = f"{made.data or 'a filler'} of a{world.account(made.lane)}/{made.sequence}"
        if answer.kind is OfferKind.TAKEN:
            world.note(f"{node} takes {told} until {made.timeout_height}")
        else:
            world.seen[f"node says {answer.kind.value}"] += 1
            world.note(f"{node} says {answer.kind.value} to {told}: {answer.log}")
        return answer

    def _judged(self, node: str, said: Verdict | str) -> Offered:
        if isinstance(said, str):
            return Offered(node, self._words.of_error(said), RPC_ERROR, "", said)
        if said.code == 0:
            return Offered(node, OfferKind.TAKEN)
        kind = self._words.of_code(said.code, said.codespace, said.log)
        found = expected_in(said.log) if kind is OfferKind.WRONG_SEQUENCE else None
        wanted = None if found is None else found[0]
        return Offered(node, kind, said.code, said.codespace, said.log, wanted)

    def _heard(self, offer: Offer, answer: Offered) -> None:
        offer.answers.append(answer)
        if answer.kind.outcome() is Outcome.ACCEPTED:
            self._go_on(offer)
            return
        left = len(offer.effect.raws) - len(offer.answers)
        kept = Offered(offer.effect.node, OfferKind.UNREACHABLE, log=NOT_OFFERED)
        offer.answers += [kept] * left
        self._finish(offer)

    def _finish(self, offer: Offer) -> None:
        self.under_way.pop(place_of(offer), None)
        event = self._returned(offer.effect, self._world.now_ms, offer.answers)
        offer.process.answered(offer.lane, event)

    def _returned(self, effect: OfferToNode, now_ms: int, answers: list[Offered]) -> OfferReturned:
        return OfferReturned(
            now_ms=now_ms,
            node=effect.node,
            serial=effect.serial,
            epoch=effect.epoch,
            first=effect.first,
            hashes=effect.hashes,
            answers=tuple(answers),
            again=effect.again,
        )

    # Reading.

    def _look(self, process: "Process", lane: LaneId, effect: LookAtNode) -> None:
        """The newest block first; the account and the transactions a moment later."""
        world = self._world
        node = world.sky.names.index(effect.node)
        if world.chance(world.plan.lose) or not world.sky.is_near(node):
            process.answered(lane, LookFailed(world.now_ms, effect.node))
            return
        height = world.sky.height(node)

        def read() -> None:
            look = self._liar.look(self._shown(lane, effect, node, height))
            if look.problem(CHAIN_ID, address_of(world.account(lane))):
                process.answered(lane, LookFailed(world.now_ms, effect.node))
                return
            event = NodeLooked(world.now_ms, effect.epoch, effect.until, look)
            process.answered(lane, event)

        world.after(world.delay() // 2, "look", read, process)

    def _shown(self, lane: LaneId, effect: LookAtNode, node: int, height: int) -> CosmosLook:
        """An account may be one block behind its node, or newer; what is in blocks is newer yet."""
        world, sky = self._world, self._world.sky
        newest = max(height, sky.height(node))
        at = self._dice.choice((max(0, height - 1), height, newest))
        account = sky.account_at(world.account(lane), at)
        txs = tuple([self._standing(node, hash_, newest) for hash_ in effect.hashes])
        owner = "" if account is None else address_of(world.account(lane))
        return CosmosLook(effect.node, height, account, txs, CHAIN_ID, owner, 1, ORIGIN)

    def _standing(self, node: int, hash_: bytes, height: int) -> TxSeen:
        sky = self._world.sky
        found = sky.chain.status(node, hash_)
        committed = found.committed
        if self._world.plan.untold and node and (committed is None or committed.height > height):
            return TxSeen(hash_, Standing.UNTOLD)
        if committed is None:
            verdict = found.verdict
            standing = Standing(found.standing.value)
            return TxSeen(hash_, standing, 0, verdict.code, verdict.codespace, verdict.log)
        if committed.height > height:
            return TxSeen(hash_, self._dice.choice((Standing.PENDING, Standing.UNKNOWN)))
        if sky.blind[node]:
            return TxSeen(hash_, Standing.UNKNOWN)
        return shown(committed)

    def _prove(self, lane: LaneId, sequence: int) -> SequenceProven:
        """What every node that tells says of who used a number; too few are as good as none."""
        world, sky = self._world, self._world.sky
        found = sky.users.get((sky.accounts[world.account(lane)], sequence))
        told, true = [], 0
        for node, name in enumerate(sky.names):
            if name not in world.settings.nodes:
                continue
            is_lost = world.chance(world.plan.lose) or not sky.is_near(node) or sky.blind[node]
            is_shown = found is not None and found.height <= sky.height(node)
            seen = shown(found) if found is not None and is_shown and not is_lost else None
            answer = self._liar.proof(name, seen) if world.plan.proofs else None
            told.append(answer)
            # What a liar said of this number before may spoil even its true answer.
            is_true = found is not None and answer == shown(found)
            true += is_true and name != world.plan.liar
        known = tuple([seen for seen in told if seen is not None])
        if true < final_quorum(len(world.settings.nodes)):
            self.withheld[lane, sequence] = None
        return SequenceProven(world.now_ms, sequence, known)


def place_of(offer: Offer) -> tuple[str, LaneId, str, int]:
    return offer.process.owner, offer.lane, offer.effect.node, offer.fence


def shown(found: Committed) -> TxSeen:
    done = found.delivered
    return TxSeen(
        found.tx.hash,
        Standing.COMMITTED,
        found.height,
        done.verdict.code,
        done.verdict.codespace,
        done.verdict.log,
        done.gas_wanted,
        done.gas_used,
        done.signers,
    )
