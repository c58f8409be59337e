"""A sequence lane on a stage: whoever tests it says what signer, nodes and chain answer.

Every decision is committed as rows, and the lane that stands up from them must equal the one in
memory; every effect that was ordered must be in `resume` until a record answers it.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from laneway.core.cosmos import (
    CommittedAccount,
    CosmosLook,
    OfferAnswer,
    OfferKind,
    TxSeen,
    TxStanding,
)
from laneway.core.ids import IntentId, LaneId, intent_id
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import Command, Head, Index, Result, RowKey, RowPut, Rows, Touch
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.lane import SequenceLane, put_slot, restore
from laneway.lanes.sequence.machine import decide, resume, sequence_kind
from laneway.lanes.sequence.rows import Attempt, Node, Slot
from laneway.lanes.sequence.settings import SequenceSettings

replace = msgspec.structs.replace

LANE = LaneId("cosmos:test:celestia1ab")
NODES = ("a", "b")
SETTINGS = SequenceSettings(
    nodes=NODES,
    inflight=8,
    timeout_blocks=10,
    attempts_max=2,
    poll_ms=100,
    retry_ms=50,
    make_retry_ms=50,
    make_tries_max=2,
    rest_ms=1_000,
    account_ms=500,
    conflict_blocks=3,
    watch_blocks=20,
    block_ms=1,
)
TAKEN, IN_MEMPOOL = OfferKind.TAKEN, OfferKind.IN_MEMPOOL
HEIGHT = 5
"""Of the first block that is seen."""


def hash_of(raw: bytes) -> bytes:
    return sha256(raw).digest()


class Stage:
    """One lane, its rows, and what it ordered."""

    def __init__(self, **settings: Any) -> None:
        self.settings = replace(SETTINGS, **settings)
        self.kind = sequence_kind(self.settings)
        self.now_ms = 1_000_000
        self.fence = 1
        self.lane = SequenceLane(LANE, self.settings)
        self.rows: dict[tuple[str, str], RowPut] = {}
        self.head = b""
        self.wake_ms: int | None = None
        self.cursors = self.lane.head.cursors
        self.results: dict[IntentId, Result] = {}
        self.indexes: dict[str, str] = {}
        self.accepted: dict[IntentId, IntentRow] = {}
        self.out: list[Any] = []
        self.told: list[Any] = []
        """The records of the last decision."""

    # The engine.

    def post(self, event: Any) -> None:
        """One turn: decide, evolve, commit; then the effects may be performed."""
        before = shape(self.lane)
        decision = decide(self.lane, event)
        assert shape(self.lane) == before, "decide only reads"
        if isinstance(event, IntentsOffered):
            self.lane.intents |= {intent.id: intent for intent in event.intents}
        self.told = list(decision.records)
        recovering = self.recovering()
        self.apply(decision.records)
        self.check_recoveries(recovering)
        self.out += decision.effects
        kept = [named(effect) for effect in resume(self.lane)]
        for effect in decision.effects:
            assert named(effect) in kept, f"{effect} is not in resume"

    def recovering(self) -> set[str]:
        return {node.name for node in self.lane.nodes.values() if node.reason}

    def check_recoveries(self, before: set[str]) -> None:
        """Each recovery that began or ended is said, and no other; nodes that left say nothing."""
        after = self.recovering()
        began = [one.node for one in self.told if isinstance(one, v.RecoveryBegan)]
        ended = [one.node for one in self.told if isinstance(one, v.RecoveryEnded)]
        assert sorted(began) == sorted(after - before)
        assert sorted(ended) == sorted((before - after) & set(self.lane.nodes))

    def apply(self, records: Sequence[Any]) -> None:
        """Fold records into the lane and commit its rows; the lane equals what they restore."""
        assert self.kind.decode(self.kind.encode(tuple(records))) == tuple(map(unburdened, records))
        for record in records:
            self.keep(self.kind.evolve(self.lane, record))
        self.commit()

    def put(self, *rows: Slot) -> None:
        """Rows stand as a test wants them."""
        for row in rows:
            self.keep(put_slot(self.lane, row))
        self.commit()

    def keep(self, touched: Iterable[Touch]) -> None:
        for touch in touched:
            match touch:
                case RowPut():
                    self.rows[touch.table, touch.key] = touch
                case RowKey():
                    del self.rows[touch.table, touch.key]
                case Result():
                    assert touch.intent not in self.results, "a final answer is written once"
                    self.results[touch.intent] = touch
                case Index():
                    self.indexes[touch.value] = touch.name

    def commit(self) -> None:
        write = self.kind.head(self.lane, self.kind.deadline(self.lane))
        self.head, self.cursors, self.wake_ms = write.state, write.cursors, write.wake_ms
        assert len(self.head) < 1_024
        assert shape(self.restored()) == shape(self.lane)

    def restored(self) -> SequenceLane:
        rows = tuple(self.rows.values())
        intents = tuple(self.accepted[row.intent] for row in rows if row.intent is not None)
        head = Head(LANE, fence=self.fence, state=self.head, cursors=self.cursors)
        return restore(Rows(head, rows, intents, ()), self.settings)

    def crash(self, **settings: Any) -> None:
        """It is loaded again, perhaps with other settings; what was under way is ordered again."""
        self.settings = replace(self.settings, **settings)
        self.kind = sequence_kind(self.settings)
        self.fence += 1
        self.lane = self.restored()
        self.out = list(resume(self.lane))

    # Callers and operators.

    def accept(self, count: int = 1, **fields: Any) -> list[IntentId]:
        made = []
        for _ in range(count):
            seq = len(self.accepted) + 1
            name = intent_id(seq, seq.to_bytes(10, "big"))
            row = IntentRow(name, LANE, seq, 0, self.now_ms, None, None, "", b"", name.encode())
            self.accepted[name] = replace(row, **fields)
            made.append(name)
        return made

    def pull(self) -> None:
        wanted = self.kind.wants(self.lane)
        waiting = [
            row
            for row in self.accepted.values()
            if row.seq > self.lane.head.cursors[row.priority] and row.id not in self.results
        ]
        if wanted and waiting:
            self.post(IntentsOffered(self.now_ms, tuple(waiting[: wanted + 1])))

    def tell(self, verb: str, intent: IntentId | None = None, **fields: Any) -> None:
        command = Command(1, LANE, verb, self.now_ms, "why", "ann", intent, **fields)
        if intent is not None:
            row = self.accepted[intent]
            command = replace(command, seq=row.seq, priority=row.priority, size=row.size())
        self.post(CommandReceived(self.now_ms, command))

    def tick(self, ms: int) -> None:
        self.now_ms += ms
        self.post(TimerFired(self.now_ms))

    # The signer.

    def made(self, effect: v.MakeAttempt, size: int = 0, timeout: int | None = None) -> v.Made:
        raw = f"{effect.slot}/{effect.number}/{effect.sequence}/".encode().ljust(size, b".")
        last = effect.height + self.settings.timeout_blocks if timeout is None else timeout
        return v.Made(effect.slot, effect.number, raw, hash_of(raw), 100, 7, last)

    def make(self, size: int = 0, timeout: int | None = None) -> None:
        """All that is to be made, in one answer."""
        orders = self.take(v.MakeAttempt)
        made = tuple(self.made(order, size, timeout) for order in orders)
        self.post(v.AttemptsMade(self.now_ms, made))

    def fail(self, *, final: bool = False, **fields: Any) -> None:
        """The first that is to be made is not."""
        order = self.take(v.MakeAttempt, 1)[0]
        failed = v.NotMade(order.slot, order.number, final, "no", **fields)
        self.post(v.AttemptsMade(self.now_ms, (failed,)))

    # The nodes.

    def take(self, kind: Any, count: int | None = None, node: str = "") -> list[Any]:
        """What was ordered, and is carried out now."""
        found = [
            one
            for one in self.out
            if isinstance(one, kind) and node in ("", getattr(one, "node", ""))
        ][:count]
        self.out = [one for one in self.out if not any(one is taken for taken in found)]
        return found

    def offered(self, node: str) -> v.OfferToNode:
        (order,) = self.take(v.OfferToNode, 1, node)
        assert isinstance(order, v.OfferToNode)
        return order

    def answer(self, node: str, *kinds: OfferKind, **fields: Any) -> None:
        """A node's words to what it is offered; to what is not named it says yes."""
        self.post(self.returned(self.offered(node), *kinds, **fields))

    def returned(self, order: v.OfferToNode, *kinds: OfferKind, **fields: Any) -> v.OfferReturned:
        answers: list[OfferAnswer] = []
        for place in range(len(order.hashes)):
            kind = kinds[place] if place < len(kinds) else TAKEN
            if answers and answers[-1].kind.outcome() is not Outcome.ACCEPTED:
                kind = OfferKind.UNREACHABLE
            answers.append(OfferAnswer(order.node, kind, **fields))
        return v.OfferReturned(
            self.now_ms, order.node, order.serial, order.epoch, order.first, order.hashes,
            tuple(answers), order.again,
        )  # fmt: skip

    def look(
        self,
        node: str,
        height: int,
        sequence: int | None,
        shown: Mapping[int, TxStanding | TxSeen] | None = None,
    ) -> None:
        """What a node shows: `shown` by slot, all else it holds; the account exists or not."""
        order = self.take(v.LookAtNode, 1, node)[0]
        self.post(self.looked(order, height, sequence, shown or {}))

    def looked(
        self,
        order: v.LookAtNode,
        height: int,
        sequence: int | None,
        shown: Mapping[int, TxStanding | TxSeen],
    ) -> v.NodeLooked:
        txs = []
        for hash_ in order.hashes:
            one = shown.get(self.lane.hashes.get(hash_, 0), TxStanding.PENDING)
            if one is TxStanding.COMMITTED:
                one = TxSeen(hash_, TxStanding.COMMITTED, height)
            txs.append(
                TxSeen(hash_, one) if isinstance(one, TxStanding) else replace(one, hash=hash_)
            )
        account = None if sequence is None else CommittedAccount(7, sequence)
        seen = CosmosLook(order.node, height, account, tuple(txs))
        return v.NodeLooked(self.now_ms, order.epoch, order.until, seen)

    def look_later(
        self,
        node: str,
        height: int,
        sequence: int | None,
        shown: Mapping[int, TxStanding | TxSeen] | None = None,
    ) -> None:
        """At its next time."""
        self.tick(self.settings.poll_ms)
        self.look(node, height, sequence, shown)

    def all_look(
        self,
        height: int,
        sequence: int | None,
        shown: Mapping[int, TxStanding | TxSeen] | None = None,
    ) -> None:
        """Every node shows the same, at its next time; `told` is what the last of them brought."""
        self.tick(self.settings.poll_ms)
        for order in self.take(v.LookAtNode):
            self.post(self.looked(order, height, sequence, shown or {}))

    def blind(self, node: str) -> None:
        self.take(v.LookAtNode, 1, node)
        self.post(v.LookFailed(self.now_ms, node))

    def prove(self, *shown: TxSeen) -> None:
        (order,) = self.take(v.ProveSequence, 1)
        self.post(v.SequenceProven(self.now_ms, order.sequence, shown))

    def change(self, number: int, **fields: Any) -> None:
        """A slot's bytes are as a test wants them."""
        slot = self.slot(number)
        assert slot.attempt is not None
        changed = replace(slot, attempt=replace(slot.attempt, **fields))
        self.put(changed)

    def place(self, name: str, **fields: Any) -> None:
        """A node stands as a test wants it."""
        self.apply([v.NodeChanged(replace(self.node(name), **fields))])

    # Questions.

    def attempt(self, number: int) -> Attempt:
        found = self.slot(number).attempt
        assert found is not None
        return found

    def node(self, name: str) -> Node:
        return self.lane.nodes[name]

    def slot(self, number: int) -> Slot:
        assert number in self.lane.slots, f"slot {number} is not open"
        return self.lane.slots[number]

    def statuses(self) -> list[str]:
        return [self.results[one].status if one in self.results else "" for one in self.accepted]

    def sequences(self) -> dict[int, int]:
        """The slot of each number."""
        return dict(sorted(self.lane.numbers.items()))


def begun(count: int, **settings: Any) -> Stage:
    """So many intents have numbers, from 0 on, and are to be made."""
    stage = Stage(**settings)
    stage.accept(count)
    stage.post(IntentsOffered(stage.now_ms, ()))
    for node in stage.settings.nodes:
        stage.look(node, HEIGHT, 0)
    stage.pull()
    return stage


def offered(count: int, **settings: Any) -> Stage:
    """They are signed, and every node is being offered them."""
    stage = begun(count, **settings)
    stage.make()
    return stage


def out(count: int, **settings: Any) -> Stage:
    """Every node took them."""
    stage = offered(count, **settings)
    for node in stage.settings.nodes:
        stage.answer(node)
    return stage


def committed(height: int = 6, code: int = 0) -> TxSeen:
    return TxSeen(b"", TxStanding.COMMITTED, height, code, "sdk" if code else "", "why")


def unburdened(record: Any) -> Any:
    """As the feed keeps it: large bytes are named by their hash."""
    return replace(record, raw=b"") if isinstance(record, v.AttemptSigned) else record


def named(effect: Any) -> object:
    """What an effect asks for; looks are told apart by their node alone."""
    if isinstance(effect, v.LookAtNode):
        return "look", effect.node
    return replace(effect, again=0) if isinstance(effect, v.OfferToNode) else effect


def shape(lane: SequenceLane) -> dict[str, object]:
    """All that a lane is, its caches of intents aside."""
    head = replace(
        lane.head,
        nodes=(),
        open_count=0,
        filler_count=0,
        watched_count=0,
        used_count=0,
        is_rewired=False,
    )
    return {
        "head": head,
        "slots": dict(lane.slots),
        "numbers": dict(lane.numbers),
        "nodes": dict(lane.nodes),
        "hashes": dict(lane.hashes),
        "raws": dict(lane.raws),
        "bound": dict(lane.bound),
        "delayed": set(lane.delayed),
        "watched": set(lane.watched),
    }
