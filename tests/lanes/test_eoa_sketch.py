"""The lane port serves a second customer: an EOA's nonces, through the real reactor and store."""

from collections import Counter
from hashlib import blake2b
from random import Random
from typing import Any, assert_never

import msgspec
import pytest
from tests.lanes.eoa_sketch import (
    BUMP_MS,
    DELIVERY,
    NODES,
    WINDOW,
    AttemptMade,
    BroadcastReturned,
    EoaLane,
    Event,
    IntentsOffered,
    NonceRead,
    ReadNonce,
    ReadReceipts,
    ReceiptsSeen,
    Send,
    SendResult,
    Sign,
    TimerFired,
    deadline,
    decide,
    eoa_kind,
    evolve,
    restore,
    resume,
    wants,
)

from laneway.core.ids import IntentId, Owner, lane_id
from laneway.core.intent import Arrival, placed
from laneway.core.outcome import Outcome
from laneway.core.records import PassOn
from laneway.core.rows import Head, Lease, Rows
from laneway.engine.orders import (
    Open,
    Order,
    Perform,
    ReadBacklog,
    ReadMailbox,
    Release,
    Revived,
    Stopped,
    Told,
)
from laneway.engine.reactor import Reactor
from laneway.engine.windows import Windows
from laneway.ports import Commit
from laneway.stores.memory import MemoryBook

LANE = lane_id("evm", "1:0xabc")
NONCE_FIRST = 7


def arrival(number: int) -> Arrival:
    return Arrival(IntentId(f"tx_{number:032x}"), LANE, b"pay %d" % number, b"", 0)


class Chain:
    """One account on two nodes; what was mined is the truth."""

    def __init__(self, dice: Random, trouble: float) -> None:
        self.dice = dice
        self.trouble = trouble
        self.pool: dict[int, dict[bytes, tuple[int, bytes]]] = {}
        self.mined: list[tuple[bytes, bytes]] = []
        self.signed = 0
        self.bytes_of: dict[tuple[int, int], set[bytes]] = {}

    def sign(self, effect: Sign, now_ms: int) -> AttemptMade:
        # No two signatures are equal, so that signing twice and sending both would show.
        self.signed += 1
        raw = msgspec.msgpack.encode([effect.nonce, effect.fee, effect.payload, self.signed])
        return AttemptMade(now_ms, effect.slot, effect.number, raw, digest(raw))

    def send(self, effect: Send, now_ms: int) -> BroadcastReturned:
        self.bytes_of.setdefault((effect.slot, effect.number), set()).add(effect.raw)
        nonce, fee, payload, _ = msgspec.msgpack.decode(effect.raw)
        taken = self.pool.setdefault(nonce, {})
        name = digest(effect.raw)
        refused_by_all = name not in taken and self.dice.random() < self.trouble
        results = []
        for node in effect.nodes:
            if refused_by_all:
                outcome = Outcome.REFUSED
            else:
                outcome = self.dice.choice((Outcome.ACCEPTED, Outcome.UNKNOWN))
                if outcome is Outcome.ACCEPTED or self.dice.random() > self.trouble:
                    taken[name] = (fee, payload)
            results.append(SendResult(effect.slot, effect.number, node, outcome))
        return BroadcastReturned(now_ms, tuple(results))

    def mine(self) -> None:
        waiting = self.pool.get(NONCE_FIRST + len(self.mined))
        if waiting:
            name, (_, payload) = max(waiting.items(), key=lambda item: item[1][0])
            self.mined.append((name, payload))

    def receipts(self, effect: ReadReceipts, now_ms: int) -> ReceiptsSeen:
        known = {name for name, _ in self.mined}
        return ReceiptsSeen(now_ms, tuple(name for name in effect.hashes if name in known))


def digest(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=32).digest()


class World:
    """The reactor driven by hand, as the shell would, with a process that dies."""

    def __init__(self, seed: int, intents: int, trouble: float) -> None:
        self.dice = Random(seed)
        self.book = MemoryBook()
        self.chain = Chain(self.dice, trouble)
        self.trouble = trouble
        self.now_ms = 1_000
        self.life = 0
        self.results: Counter[IntentId] = Counter()
        self.accepted: Counter[str] = Counter()
        self.intents = intents
        self.boot()
        for number in range(1, intents + 1):
            self.accept(arrival(number))
            self.reactor.woken(LANE)
            if self.dice.random() < 0.5:
                self.step()

    def accept(self, arriving: Arrival) -> None:
        self.book.begin()
        (answer,) = self.book.accept([arriving])
        self.book.sync()
        self.accepted[type(answer).__name__ + ":" + arriving.lane] += 1

    def boot(self) -> None:
        """A new life: nothing is left but the rows, and `ready` says which lanes have work."""
        self.life += 1
        windows = Windows(backlog_page=self.dice.choice((1, 12)), events_per_turn=256)
        self.reactor = Reactor({"evm": eoa_kind()}, Owner(f"p{self.life}"), windows)
        self.commits: list[Commit] = []
        self.effects: list[Perform] = []
        for lane in self.book.ready(self.now_ms, None, 10):
            self.reactor.woken(lane)

    def run(self) -> None:
        for _ in range(4_000):
            if self.is_done():
                return
            self.step()
        raise AssertionError("never lost")

    def is_done(self) -> bool:
        """By the store alone: all is final, and no message is left to hand over."""
        return len(self.book.results) == self.intents and not self.book.shelves[LANE].rows

    def step(self) -> None:
        if self.dice.random() < self.trouble / 5:
            self.boot()
        for order in self.reactor.orders(self.now_ms):
            self.carry_out(order)
        moves: list[Commit | Perform] = [*self.commits, *self.effects]
        if moves and self.dice.random() < 0.9:
            move = self.dice.choice(moves)
            if isinstance(move, Commit):
                self.commit(move)
            else:
                self.effects.remove(move)
                self.perform(move.effect)
        elif self.dice.random() < 0.5:
            self.chain.mine()
        elif not moves and not self.reactor.has_work():
            self.now_ms = max(self.now_ms, self.reactor.next_ms() or 0)

    def carry_out(self, order: Order) -> None:
        match order:
            case Open(lane=lane):
                lease = self.book.claim(lane, self.reactor.owner, self.now_ms)
                assert lease is not None
                self.reactor.opened(lease, self.book.load(lease))
            case ReadBacklog(lease=lease, after=after, limit=limit):
                self.reactor.backlog_read(lease, self.book.backlog(lease, after, limit))
            case ReadMailbox(lease=lease):
                self.reactor.mailbox_read(lease, self.book.mailbox(lease))
            case Commit():
                self.commits.append(order)
            case Perform():
                self.effects.append(order)
            case Told(results=results):
                self.results.update(result.intent for result in results)
            case Release(lease=lease):
                self.book.release(lease)
            case Stopped(error=error):
                raise error
            case Revived():
                raise AssertionError("nothing was stopped")
            case _:
                assert_never(order)

    def commit(self, commit: Commit) -> None:
        self.commits.remove(commit)
        self.book.begin()
        version = self.book.commit(commit.lease, commit.version, commit.write)
        self.book.sync()
        self.check_rows(commit.lease)
        if self.dice.random() < self.trouble / 5:
            self.boot()  # It died right behind the commit, before any effect.
        else:
            self.reactor.committed(commit.lease, version)

    def check_rows(self, lease: Lease) -> None:
        """After every commit what the store holds equals what the lane is in memory."""
        kept, lane = restore(self.book.load(lease)), self.reactor.lane(LANE)
        for name in ("head", "slots", "attempts", "raws", "returned", "free", "outbox"):
            assert getattr(kept, name) == getattr(lane, name), name

    def perform(self, effect: Any) -> None:
        match effect:
            case ReadNonce():
                count = NONCE_FIRST + len(self.chain.mined)
                self.reactor.answered(LANE, NonceRead(self.now_ms, count))
            case Sign():
                self.reactor.answered(LANE, self.chain.sign(effect, self.now_ms))
            case Send():
                self.reactor.answered(LANE, self.chain.send(effect, self.now_ms))
            case ReadReceipts():
                self.reactor.answered(LANE, self.chain.receipts(effect, self.now_ms))
            case PassOn(outbox=message):
                self.accept(Arrival(message.id, message.lane, message.payload, b"", self.now_ms))
                self.reactor.passed_on(LANE, message.id, self.now_ms)
            case _:
                raise AssertionError(effect)


def judged(seed: int, intents: int = 9, trouble: float = 0.2) -> World:
    world = World(seed, intents, trouble)
    world.run()
    wished = [arrival(number).payload for number in range(1, intents + 1)]
    # Nonces are dense and unique by the chain's own rule: a gap would have stopped it for ever.
    assert [payload for _, payload in world.chain.mined] == wished, "each once, in order"
    numbers = [world.book.results[arrival(n).id].number for n in range(1, intents + 1)]
    assert numbers == list(range(NONCE_FIRST, NONCE_FIRST + intents))
    assert set(world.results.values()) <= {1}, "one confirmation for each"
    assert world.accepted[f"Accepted:{DELIVERY}"] == intents, "each message is delivered once"
    for sent in world.chain.bytes_of.values():
        assert len(sent) == 1, "what is sent again are the same bytes"
    for (name, _), number in zip(world.chain.mined, range(1, intents + 1), strict=True):
        index = world.book.find("hash", name.hex())
        assert index is not None
        assert index.intent == arrival(number).id
    assert world.book.shelves[LANE].rows == {}
    assert world.book.shelves[LANE].head.wake_ms is None
    return world


@pytest.mark.parametrize("seed", range(40))
def test_nonces_are_dense_order_is_kept_and_nothing_is_lost_or_doubled(seed: int) -> None:
    mined = [payload for _, payload in judged(seed).chain.mined]
    assert len(mined) == len(set(mined)), "the rest is judged there"


def test_in_a_calm_world_every_intent_is_signed_once() -> None:
    world = judged(1, trouble=0.0)
    assert world.chain.signed == 9
    assert world.life == 1


@pytest.mark.slow
def test_nonces_are_dense_in_many_worlds() -> None:
    lives = bumps = replays = 0
    for seed in range(1_000, 1_400):
        world = judged(seed, trouble=(seed % 5) / 10)
        lives += world.life - 1
        bumps += sum(number > 1 for _, number in world.chain.bytes_of)
        replays += world.accepted[f"Replayed:{DELIVERY}"]
    assert lives > 100
    assert bumps > 20
    assert replays > 5


# The machine alone, as stories.


class Story:
    def __init__(self) -> None:
        self.lane = EoaLane(LANE)
        self.effects: list[Any] = []

    def apply(self, event: Event) -> list[Any]:
        decision = decide(self.lane, event)
        for record in decision.records:
            evolve(self.lane, record)
        self.effects += decision.effects
        return [type(record).__name__ for record in decision.records]

    def offer(self, *numbers: int) -> list[Any]:
        rows = tuple(placed(arrival(number), number) for number in numbers)
        for row in rows:
            self.lane.intents[row.id] = row
        return self.apply(IntentsOffered(0, rows))

    def sent(self, *numbers: int) -> None:
        """Intents that were offered to the nodes, and nobody has answered."""
        self.offer(*numbers)
        self.apply(NonceRead(0, NONCE_FIRST))
        for effect in [effect for effect in self.effects if isinstance(effect, Sign)]:
            raw = b"signed %d" % effect.slot
            self.apply(AttemptMade(0, effect.slot, effect.number, raw, raw))

    def answer(self, slot: int, *outcomes: Outcome, now_ms: int = 0) -> list[Any]:
        results = zip(NODES, outcomes, strict=False)
        return self.apply(
            BroadcastReturned(now_ms, tuple(SendResult(slot, 1, *result) for result in results))
        )

    def nonces(self) -> dict[IntentId, int | None]:
        return {slot.intent: slot.nonce for slot in self.lane.slots.values()}


def test_signed_bytes_are_committed_before_they_are_sent() -> None:
    story = Story()
    story.sent(1)
    assert isinstance(story.effects[-1], Send)
    assert story.lane.raws["1/1"] == story.effects[-1].raw
    assert resume(story.lane) == (story.effects[-1],)
    assert story.apply(AttemptMade(0, 1, 1, b"other bytes", b"other")) == []


def test_the_window_holds_many_nonces_and_no_more() -> None:
    story = Story()
    assert wants(story.lane) == WINDOW
    story.sent(1, 2, 3)
    assert wants(story.lane) == WINDOW - 3
    assert list(story.nonces().values()) == [7, 8, 9]


def test_an_unknown_answer_keeps_the_nonce() -> None:
    story = Story()
    story.sent(1)
    assert "SlotFreed" not in story.answer(1, Outcome.REFUSED, Outcome.UNKNOWN)
    assert story.nonces() == {arrival(1).id: 7}


def test_a_nonce_that_every_node_refused_is_free_and_its_intent_keeps_its_order() -> None:
    story = Story()
    story.sent(1, 2)
    assert story.answer(1, Outcome.REFUSED)[-1] != "SlotFreed"
    assert "SlotFreed" in story.apply(
        BroadcastReturned(0, (SendResult(1, 1, "b", Outcome.REFUSED),))
    )
    assert story.lane.free == [7]
    assert wants(story.lane) == 0, "what is behind it must not overtake"
    story.apply(TimerFired(1_000))
    assert story.nonces() == {arrival(1).id: 7, arrival(2).id: 8}
    assert story.lane.free == []


def test_after_a_minute_the_lowest_nonce_is_offered_with_a_higher_fee() -> None:
    story = Story()
    story.sent(1, 2)
    story.answer(1, Outcome.ACCEPTED, Outcome.ACCEPTED)
    story.lane.head.watch_ms = None
    assert deadline(story.lane) == BUMP_MS
    assert story.apply(TimerFired(BUMP_MS)) == ["BumpOrdered"]
    assert story.effects[-1] == Sign(1, 2, 7, 113, b"pay 1")
    assert resume(story.lane)[0] == story.effects[-1]


def test_a_message_is_resumed_until_the_other_lane_took_it() -> None:
    story = Story()
    story.sent(1)
    story.apply(ReceiptsSeen(5, (b"signed 1",)))
    (message,) = resume(story.lane)
    assert isinstance(message, PassOn)
    story.apply(eoa_kind().passed(6, message.outbox.id))  # type: ignore[misc]
    assert resume(story.lane) == ()


def test_an_empty_lane_is_restored_from_no_rows() -> None:
    lane = restore(Rows(Head(LANE), (), (), ()))
    assert (lane.slots, resume(lane), deadline(lane), wants(lane)) == ({}, (), None, WINDOW)
