"""An account's lane on a stage: a chain of a few lines, nodes that lie by silence, crashes.

Every decision is committed as rows, and the lane that stands up from them must equal the one in
memory; every effect that was ordered must be in `resume` until a record answers it.
"""

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec

from laneway.core.ids import IntentId, LaneId, intent_id
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.core.rows import Command, Head, Index, Result, RowKey, RowPut, Rows, Touch
from laneway.core.units import value
from laneway.lanes.common.values import CommandReceived, IntentsOffered, TimerFired
from laneway.lanes.eoa import values as v
from laneway.lanes.eoa.fees import EvmFee, replacing
from laneway.lanes.eoa.lane import EoaLane, note_date, restore
from laneway.lanes.eoa.machine import decide, eoa_kind, resume
from laneway.lanes.eoa.rows import Attempt
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.eoa.tries import look

replace = msgspec.structs.replace

LANE = LaneId("evm:1:0xab")
NODES = ("a", "b")
LONG_MS = 10_000
SETTINGS = EoaSettings(nodes=NODES, target_tps=1, finality_depth_blocks=3, recycled_max=5)


VERBS = ("cancel", "cancel", "bump", "replace", "replace", "pause", "drain", "reset-nonce", "dance")


def is_replaced_by(last: EvmFee, other: EvmFee) -> bool:
    """By the rule of the strictest client."""
    least = replacing(last)
    return other.cap >= least.cap and other.tip >= least.tip and other.blob >= least.blob


class Tx(msgspec.Struct, frozen=True):
    """Bytes as the stage's signer makes them."""

    nonce: int
    intent: str
    """Empty for a no-op."""
    cap: int
    tip: int
    number: int

    def raw(self) -> bytes:
        return msgspec.msgpack.encode(self)


def tx_of(raw: bytes) -> Tx:
    return msgspec.msgpack.decode(raw, type=Tx)


class Block(msgspec.Struct):
    number: int
    hash: bytes
    txs: list[bytes]


class World:
    """A chain, two nodes' pools, and all that can go wrong between them and the lane."""

    def __init__(self, seed: int, settings: EoaSettings = SETTINGS) -> None:
        self.random = Random(seed)
        self.settings = settings
        self.kind = eoa_kind(settings)
        self.now_ms = 1_000_000
        self.blocks = [Block(0, b"genesis", [])]
        self.pools: dict[str, dict[int, bytes]] = {node: {} for node in NODES}
        self.faults = True
        self.base_fee = 100
        self.lane: EoaLane = EoaLane(LANE, settings)
        self.rows: dict[tuple[str, str], RowPut] = {}
        self.head = b""
        self.cursors = self.lane.head.cursors
        self.results: dict[IntentId, Result] = {}
        self.indexes: dict[str, IntentId] = {}
        self.backlog: list[IntentRow] = []
        self.accepted: dict[IntentId, IntentRow] = {}
        self.out: list[Any] = []
        self.begun: set[int] = set()
        """Slots of which something was ordered to be sent."""
        self.refuses: set[str] = set()
        """Intents that the signer cannot make, for good."""
        self.crashes = 0
        self.reorgs = 0
        self.others = 0
        self.replaced = 0

    # The caller.

    def accept(self, count: int) -> None:
        for _ in range(count):
            seq = len(self.accepted) + 1
            name = intent_id(seq, seq.to_bytes(10, "big"))
            until_ms = self.now_ms + 5_000 if self.random.random() < 0.05 else None
            row = IntentRow(name, LANE, seq, 0, self.now_ms, until_ms, None, "", b"", name.encode())
            self.accepted[name] = row
            self.backlog.append(row)
            if self.random.random() < 0.05:
                self.refuses.add(name)

    # The engine.

    def post(self, event: Any) -> None:
        """One turn: decide, evolve, commit; then the effects may be performed."""
        before = self.lane_digest(self.lane)
        decision = decide(self.lane, event)
        assert self.lane_digest(self.lane) == before, "decide only reads"
        if isinstance(event, IntentsOffered):
            for intent in event.intents:
                self.lane.intents[intent.id] = intent
        self.apply(decision.records)
        self.last = decision.records
        self.out += decision.effects
        self.check_dates(decision.effects, event.now_ms)
        # Every effect is in resume until the record that answers it.
        kept = resume(self.lane)
        for effect in decision.effects:
            if isinstance(effect, v.SendAttempt):
                effect = replace(effect, again=True)
            assert effect in kept, f"{effect} is not in resume"

    def check_dates(self, effects: Sequence[Any], now_ms: int) -> None:
        """Nothing of a slot is offered for the first time after its intent's `valid_until`."""
        for effect in effects:
            if isinstance(effect, v.SendAttempt) and effect.slot not in self.begun:
                self.begun.add(effect.slot)
                intent = self.lane.slots[effect.slot].intent
                until_ms = None if intent is None else self.accepted[intent].valid_until_ms
                assert until_ms is None or now_ms <= until_ms, "it was valid no longer"

    def apply(self, records: Sequence[Any]) -> None:
        """Fold records into the lane and commit its rows; the lane equals what they restore."""
        touched: list[Touch] = []
        for record in records:
            before = in_flight(self.lane)
            touched += self.kind.evolve(self.lane, record)
            if isinstance(record, v.AttemptSigned) and self.settings.spend_wei_max is not None:
                bound = max(before, self.settings.spend_wei_max)
                assert in_flight(self.lane) <= bound, "no signature exceeds the cap on spending"
        for touch in (*touched, *self.kind.left(self.lane)):
            match touch:
                case RowPut():
                    self.rows[touch.table, touch.key] = touch
                case RowKey():
                    del self.rows[touch.table, touch.key]
                case Result():
                    assert touch.intent not in self.results, "a final answer is written once"
                    self.results[touch.intent] = touch
                case Index():
                    self.indexes[touch.value] = touch.intent
        named = {row.intent for row in self.rows.values() if row.intent is not None}
        self.lane.intents = {one: row for one, row in self.lane.intents.items() if one in named}
        write = self.kind.head(self.lane, self.kind.deadline(self.lane))
        self.head = write.state
        self.cursors = write.cursors
        assert len(self.head) < 1_024
        assert self.lane_digest(self.restored()) == self.lane_digest(self.lane)

    def restored(self) -> EoaLane:
        head = Head(LANE, state=self.head, cursors=self.cursors)
        rows = tuple(self.rows.values())
        named = {row.intent for row in rows if row.intent is not None}
        intents = tuple(row for one, row in self.accepted.items() if one in named)
        return restore(Rows(head, rows, intents, ()), self.settings)

    def lane_digest(self, lane: EoaLane) -> object:
        return (
            msgspec.msgpack.encode(lane.head),
            dict(lane.slots), dict(lane.nonces), lane.attempts, lane.raws, lane.hashes,
            set(lane.unsure), set(lane.delayed), lane.returned, lane.free.rows(),
            set(lane.intents), lane.dated, lane.contents, set(lane.submitted), set(lane.noops),
            lane.bound,
        )  # fmt: skip

    def pull(self) -> None:
        wanted = self.kind.wants(self.lane)
        waiting = [
            row
            for row in self.backlog
            if row.seq > self.lane.head.cursors[0] and row.id not in self.results
        ]
        if wanted and waiting:
            self.post(IntentsOffered(self.now_ms, tuple(waiting[: wanted + 1])))

    def crash(self) -> None:
        self.crashes += 1
        self.lane = self.restored()
        self.out = list(resume(self.lane))

    def tick(self) -> None:
        """The lane's next deadline, if it is near; else some time."""
        at_ms = self.kind.deadline(self.lane)
        self.now_ms += self.random.randrange(1, 3_000)
        if at_ms is not None:
            if self.random.random() < 0.5:
                self.now_ms = max(self.now_ms, at_ms)
            if at_ms <= self.now_ms:
                self.post(TimerFired(self.now_ms))

    def perform(self) -> None:
        if not self.out:
            return
        effect = self.out.pop(self.random.randrange(len(self.out)))
        lost = self.faults and self.random.random() < 0.1
        match effect:
            case v.MakeAttempt():
                made = self.make(effect)
                if not lost:
                    self.post(v.AttemptsMade(self.now_ms, (made,)))
                else:
                    self.out.append(effect)
            case v.SendAttempt():
                self.send(effect)
            case v.LookAtChain():
                self.post(v.ReadFailed(self.now_ms) if lost else self.look(effect))
            case v.ProveNonce():
                found = self.prove(effect.nonce, lost)
                self.post(v.NonceProven(self.now_ms, effect.nonce, found))
            case _:
                raise AssertionError(effect)

    def make(self, effect: v.MakeAttempt) -> v.Made | v.NotMade:
        intent = effect.payload.decode()
        if intent.partition("!")[0] in self.refuses:
            return v.NotMade(effect.slot, effect.number, final=True, reason="it reverts")
        if self.faults and self.random.random() < 0.1:
            poor = self.random.random() < 0.1
            return v.NotMade(
                effect.slot, effect.number, final=False, reason="signer is away", broke=poor
            )
        cap = max(effect.floor.cap, effect.market.cap)
        tip = max(effect.floor.tip, effect.market.tip)
        tx = Tx(effect.nonce, intent, cap, tip, effect.number)
        raw = tx.raw()
        return v.Made(effect.slot, effect.number, raw, digest(raw), EvmFee(cap, tip), 21_000, cap)

    def send(self, effect: v.SendAttempt) -> None:
        results = []
        for node in effect.nodes:
            outcome, final, reason = self.offer(node, effect.raw)
            if self.faults and self.random.random() < 0.2:
                outcome, final, reason = Outcome.UNKNOWN, False, "no answer"
            results.append(
                v.SendResult(
                    effect.slot,
                    effect.number,
                    node,
                    outcome,
                    first=not effect.again,
                    final=final,
                    hopeless=reason == "oversized",
                    broke=reason == "insufficient funds",
                    cheap=reason == "replacement transaction underpriced",
                    reason=reason,
                )
            )
        self.post(v.BroadcastReturned(self.now_ms, tuple(results)))

    # The chain.

    def balance(self) -> int:
        """More than msgpack's integers can say; someone tops it up in the end."""
        return 10**20 if self.faults else 2 * 10**20

    def count(self) -> int:
        return sum(len(block.txs) for block in self.blocks)

    def offer(self, node: str, raw: bytes) -> tuple[Outcome, bool, str]:
        tx = tx_of(raw)
        if tx.nonce < self.count():
            return Outcome.UNKNOWN, False, "nonce too low"
        if self.faults and self.random.random() < 0.15:
            words = ("underpriced", "underpriced", "oversized", "insufficient funds")
            return Outcome.REFUSED, True, self.random.choice(words)
        held = self.pools[node].get(tx.nonce)
        if held is not None and held != raw:
            other = tx_of(held)
            if not is_replaced_by(EvmFee(other.cap, other.tip), EvmFee(tx.cap, tx.tip)):
                return Outcome.REFUSED, False, "replacement transaction underpriced"
        self.pools[node][tx.nonce] = raw
        return Outcome.ACCEPTED, False, ""

    def mine(self) -> None:
        pool = self.pools[self.random.choice(NODES)]
        txs: list[bytes] = []
        count = self.count()
        if self.faults and self.random.random() < 0.02:
            self.others += 1
            txs.append(Tx(count, f"other{self.others}", 1, 1, 0).raw())
        while count + len(txs) in pool and self.random.random() < 0.8:
            txs.append(pool[count + len(txs)])
        number = len(self.blocks)
        salt = self.random.getrandbits(64).to_bytes(8, "big")
        self.blocks.append(Block(number, salt, txs))
        for one in self.pools.values():
            for nonce in [nonce for nonce in one if nonce < self.count()]:
                del one[nonce]

    def reorg(self) -> None:
        depth = self.random.randrange(1, self.settings.finality_depth_blocks)
        if len(self.blocks) <= depth + 1:
            return
        self.reorgs += 1
        length = len(self.blocks)
        del self.blocks[-depth:]
        while len(self.blocks) < length:
            self.mine()

    def drop(self) -> None:
        pool = self.pools[self.random.choice(NODES)]
        if pool:
            del pool[self.random.choice(sorted(pool))]

    def look(self, effect: v.LookAtChain) -> v.ChainRead:
        tip = self.blocks[-1]
        fork: int | None = None
        known = effect.block
        if effect.block_hash and (
            known >= len(self.blocks) or self.blocks[known].hash != effect.block_hash
        ):
            # A node tells where the branches part; the stage knows that no deeper one happens.
            fork = known = max(
                0, min(known, len(self.blocks)) - self.settings.finality_depth_blocks
            )
        new = self.blocks[known + 1 :] if effect.block_hash else []
        receipts = [
            v.Receipt(digest(raw), block.number, block.hash, ok=True)
            for block in new
            for raw in block.txs
            if digest(raw) in effect.hashes
        ]
        asked = {*(hash_ for hash_, _ in effect.due), *(one.hash for one in receipts)}
        agreed = [one for one in self.final() if one.hash in asked]
        return v.ChainRead(
            self.now_ms, effect.block_hash, self.count(), self.count(), self.balance(),
            self.base_fee, 1, tip.number, tip.hash, tuple(receipts), fork, agreed=tuple(agreed),
        )  # fmt: skip

    def final(self) -> list[v.Receipt]:
        """What is mined for good, in its order."""
        deep = self.blocks[: len(self.blocks) - self.settings.finality_depth_blocks]
        return [
            v.Receipt(digest(raw), block.number, block.hash, ok=True)
            for block in deep
            for raw in block.txs
        ]

    def prove(self, nonce: int, lost: bool) -> v.Receipt | None:
        """Only what is final is shown."""
        final = self.final()
        return final[nonce] if not lost and nonce < len(final) else None

    # All of it.

    def step(self) -> None:
        chosen = self.random.random()
        if chosen < 0.35 or not self.faults:
            self.perform()
            for _ in range(0 if self.faults else len(self.out)):
                self.perform()
        if chosen < 0.35:
            pass
        elif chosen < 0.55:
            self.pull()
        elif chosen < 0.75:
            self.tick()
        elif chosen < 0.9:
            self.mine()
        elif not self.faults:
            self.perform()
        elif chosen < 0.93:
            self.crash()
        elif chosen < 0.95:
            self.reorg()
        elif chosen < 0.97:
            self.drop()
        elif chosen < 0.985:
            self.command()
        else:
            self.accept(1)

    def command(self) -> None:
        verb = self.random.choice(VERBS)
        of_intents = ("cancel", "bump", "replace")
        rows = list(self.accepted.values())
        # A word may come when its intent is final already: only those that had a number are told.
        known = [
            row
            for row in rows
            if row.id not in self.results or row.seq <= self.lane.head.cursors[0]
        ]
        row = self.random.choice(known) if known and verb in of_intents else None
        if row is not None or verb not in of_intents:
            self.tell(verb, row)

    def tell(self, verb: str, row: IntentRow | None = None, content: str = "") -> None:
        command = Command(1, LANE, verb, self.now_ms, "why", "ann")
        if row is not None:
            command = replace(command, intent=row.id, seq=row.seq, size=row.size())
        if verb == "replace":
            assert row is not None
            self.replaced += 1
            said = f"{row.id}!{content or self.replaced}"
            command = replace(command, payload=said.encode())
        if verb == "drain":
            word = content or self.random.choice(("queue", "running"))
            command = replace(command, word=word, seq=len(self.accepted))
        self.post(CommandReceived(self.now_ms, command))

    def mined(self) -> list[str]:
        """The intents on chain, in its order, whatever their content; no-ops and others left
        out."""
        txs = [tx_of(raw) for block in self.blocks for raw in block.txs]
        return [
            tx.intent.partition("!")[0]
            for tx in txs
            if tx.intent and not tx.intent.startswith("other")
        ]

    def is_over(self) -> bool:
        return len(self.results) == len(self.accepted)


def is_broke(world: World) -> bool:
    return world.lane.head.broke


def in_flight(lane: EoaLane) -> int:
    """The cost of the gas of every slot that is not mined, by its dearest attempt."""
    return sum(value(slot.cost) for slot in lane.slots.values() if slot.seen is None)


def digest(raw: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(raw, digest_size=32).digest()


def various(seed: int) -> EoaSettings:
    """Every third world gives free numbers to anyone, three of four have a cap."""
    return replace(
        SETTINGS,
        recycled="any" if seed % 3 == 1 else "returned",
        fee_wei_max=1_000 if seed % 4 == 1 else None,
        cost_wei_max=5_000 if seed % 4 == 2 else None,
        spend_wei_max=700 if seed % 4 == 3 else None,
        recycled_max=1 if seed % 5 == 1 else 5,
    )


def run(
    seed: int,
    *,
    intents: int = 12,
    steps: int = 400,
    settle: int = 4_000,
    settings: EoaSettings | None = None,
) -> World:
    """A world with faults, and then one without, until all is final."""
    world = World(seed, settings or various(seed))
    world.accept(intents)
    for _ in range(steps):
        world.step()
    world.faults = False
    world.tell("resume")
    todo = deque(range(settle))
    while todo and not world.is_over():
        todo.popleft()
        world.step()
    return world


# Stories: the same world without chance, driven by hand.


def begun(count: int, **settings: Any) -> World:
    """An account at number 0 with so many intents that were given numbers."""
    world = World(1, replace(SETTINGS, **settings))
    world.faults = False
    world.post(world.look(look(world.lane)))
    offer(world, count)
    return world


def offer(world: World, count: int) -> None:
    """So many intents, which are given numbers as far as the lane takes them."""
    for _ in range(count):
        seq = len(world.accepted) + 1
        name = intent_id(seq, seq.to_bytes(10, "big"))
        row = IntentRow(name, LANE, seq, 0, world.now_ms, None, None, "", b"", name.encode())
        world.accepted[name] = row
        world.backlog.append(row)
    world.pull()


def limited(world: World, *seqs: int, for_ms: int = LONG_MS) -> None:
    """These intents may be offered for the first time until then."""
    for row in [row for row in world.accepted.values() if row.seq in seqs]:
        late = replace(row, valid_until_ms=world.now_ms + for_ms)
        world.accepted[row.id] = world.lane.intents[row.id] = late
        note_date(world.lane, row.id)


def make_all(world: World) -> None:
    """Every attempt that is to be made is made."""
    todo = [effect for effect in world.out if isinstance(effect, v.MakeAttempt)]
    world.out = [effect for effect in world.out if not isinstance(effect, v.MakeAttempt)]
    for effect in todo:
        world.post(v.AttemptsMade(world.now_ms, (world.make(effect),)))


def refuse(world: World, slot: int, number: int, **words: Any) -> None:
    """Every node refuses it for good."""
    results = tuple(
        v.SendResult(slot, number, node, Outcome.REFUSED, final=True, reason="no", **words)
        for node in NODES
    )
    world.post(v.BroadcastReturned(world.now_ms, results))


def take(world: World, slot: int, number: int = 1) -> None:
    results = tuple(v.SendResult(slot, number, node, Outcome.ACCEPTED) for node in NODES)
    world.post(v.BroadcastReturned(world.now_ms, results))


def adopted(world: World) -> Attempt:
    """The first attempt, of which nobody here has more than its hash."""
    bare = replace(world.lane.attempts[1][1], raw=b"")
    world.lane.attempts[1][1] = bare
    world.lane.raws[bare.key()] = b""
    return bare


def later(world: World, ms: int) -> None:
    """Time passes, and in a time that makes a number dearer so does a block."""
    world.now_ms += ms
    if ms >= world.settings.bump_after_ms:
        block = world.lane.head.block + 1
        world.apply([v.HeadMoved(block, f"later{block}".encode())])
    world.post(TimerFired(world.now_ms))


def other(world: World, nonce: int, block: int) -> None:
    """Someone else's transaction stands at this number."""
    receipt = v.Receipt(b"other" * 6, block, b"b", ok=True)
    is_final = block + world.settings.finality_depth_blocks <= world.lane.head.block
    world.post(v.NonceProven(world.now_ms, nonce, receipt if is_final else None))


def chain(world: World, latest: int, block: int, *receipts: v.Receipt, **words: Any) -> None:
    """A look. All nodes show alike what is final by it, unless it is said what they show."""
    if "agreed" not in words:
        fork = words.get("fork", block)
        known = [
            v.Receipt(
                world.lane.attempts[slot][fact.attempt].hash, fact.block, fact.block_hash, fact.ok
            )
            for slot, fact in world.lane.seen.items()
            if fact.block <= fork
        ]
        depth = world.settings.finality_depth_blocks
        words["agreed"] = tuple(one for one in (*known, *receipts) if one.block + depth <= block)
    world.post(
        v.ChainRead(
            world.now_ms,
            words.pop("since", world.lane.head.block_hash),
            latest,
            latest,
            words.pop("balance", 10**19),
            100,
            1,
            block,
            bytes([block]),
            receipts,
            **words,
        )
    )


def receipt(world: World, slot: int, number: int, block: int, *, ok: bool = True) -> v.Receipt:
    return v.Receipt(world.lane.attempts[slot][number].hash, block, bytes([block]), ok=ok)
