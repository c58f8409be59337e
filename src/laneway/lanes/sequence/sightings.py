"""What a look at a node says of the account and its transactions.

A block is final: what is committed ends a slot. Everything else a node shows is how things look
from there, and tells only what it is to be offered again. Bytes can land no more when a node with a
block above their last one still counts the account below them.
"""

from msgspec import Struct

from laneway.core.cosmos import CosmosLook, Standing, TxSeen
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.lanes.sequence.answers import give_up, is_fall_out, wound_back
from laneway.lanes.sequence.fold import moved
from laneway.lanes.sequence.lane import SequenceLane, is_clear_from, is_out, replace
from laneway.lanes.sequence.limits import LOG_BYTES_MAX, WATCHED_MAX
from laneway.lanes.sequence.rows import Node, Slot
from laneway.lanes.sequence.tries import (
    NOTHING,
    Decision,
    Signed,
    ended,
    make,
    offers,
    said,
    set_back,
)
from laneway.lanes.sequence.values import (
    AccountMissing,
    AccountSeen,
    Effect,
    NodeChanged,
    NodeLooked,
    ProveSequence,
    Record,
    SequenceProven,
    SlotChanged,
    SlotCorrected,
    SlotSettled,
    SlotsRenumbered,
)

LOST = (Standing.EVICTED, Standing.REJECTED, Standing.UNKNOWN)
"""What a node does not hold: its mempool is asked before the caches of what it dropped."""


class Sight(Struct):
    """One look, judged step by step."""

    lane: SequenceLane
    look: CosmosLook
    now_ms: int
    committed: int
    """The account's sequence, as far as anyone showed it."""
    own: int
    """And as this node shows it."""
    landed: int
    """Above all sequences at which an intent is in a block."""
    settled: dict[int, None]
    """Slots that ended."""
    records: list[Record]
    effects: list[Effect]
    changed: dict[int, Signed | None]
    """Numbers whose bytes ended."""

    def open(self) -> list[Slot]:
        return [slot for slot in self.lane.in_order() if slot.id not in self.settled]


def judge_look(lane: SequenceLane, event: NodeLooked) -> Decision:
    look, now_ms = event.look, event.now_ms
    node = lane.nodes.get(look.node)
    if node is None or not node.looking:
        return NOTHING
    state = replace(node, looking=False, height=max(node.height, look.height))
    if look.account is None:
        return judge_missing(lane, state, now_ms)
    own = look.account.sequence
    committed, landed = max(lane.head.committed, own), lane.head.landed_next
    sight = Sight(lane, look, now_ms, committed, own, landed, {}, [], [], {})
    settle_committed(sight)
    sight.records.insert(0, AccountSeen(sight.committed, look.account.number, look.height, now_ms))
    forget_watched(sight)
    nodes = {**lane.nodes, state.name: state}
    nodes = {name: reached(one, sight.committed) for name, one in nodes.items()}
    settle_passed(sight, nodes)
    if is_overtaken(sight, nodes):
        return renumbered(sight, nodes[state.name])
    judge_used(sight)
    state = judge_standing(sight, nodes[state.name], event)
    nodes[state.name] = state
    nodes = judge_ended(sight, nodes)
    nodes[state.name] = paced(sight, nodes[state.name])
    if is_fall_out(sight.records):
        # Those above are made again; until then there is nothing new to offer.
        moves = [NodeChanged(one) for one in nodes.values() if one != lane.nodes[one.name]]
        return said((*moves, *sight.records), sight.effects)
    sent = offers(lane, nodes, sight.changed)
    return said((*sight.records, *sent.records), (*sight.effects, *sent.effects))


def judge_missing(lane: SequenceLane, state: Node, now_ms: int) -> Decision:
    """The account does not exist, on this node at least."""
    again = replace(state, look_ms=now_ms + lane.settings.account_ms)
    if lane.head.sequence_next is not None and not lane.head.is_missing:
        return said([NodeChanged(replace(state, look_ms=now_ms + lane.settings.poll_ms))])
    return said([NodeChanged(again), AccountMissing(now_ms)])


def reached(node: Node, committed: int) -> Node:
    if node.next >= committed:
        return node
    return replace(node, next=committed, top=max(node.top, committed))


def paced(sight: Sight, node: Node) -> Node:
    """When it is looked at next: while something is out, or watched."""
    lane = sight.lane
    is_busy = len(lane.slots) > len(sight.settled)
    return replace(node, look_ms=sight.now_ms + lane.settings.poll_ms if is_busy else None)


# Ends that a block proves.


def settle_committed(sight: Sight) -> None:
    for seen in sight.look.txs:
        number = sight.lane.hashes.get(seen.hash)
        if seen.standing is not Standing.COMMITTED or number is None or number in sight.settled:
            continue
        slot = sight.lane.slots[number]
        sight.records.append(committed(slot, seen, sight.now_ms))
        sight.settled[number] = None
        sight.committed = max(sight.committed, slot.sequence + 1)
        if slot.intent is not None:
            sight.landed = max(sight.landed, slot.sequence + 1)


def committed(slot: Slot, seen: TxSeen, now_ms: int) -> SlotSettled | SlotCorrected:
    told = replace(seen, log=clip(seen.log))
    if slot.told:
        return SlotCorrected(slot.id, slot.intent, told)
    status = Status.CONFIRMED if seen.code == 0 else Status.REVERTED
    reason = "" if seen.code == 0 else clip(f"{seen.codespace} code {seen.code}: {seen.log}")
    return SlotSettled(slot.id, status.value, now_ms, slot.sequence, reason, slot.intent, seen=told)


# Numbers that are used.


def settle_passed(sight: Sight, nodes: dict[str, Node]) -> None:
    """No node ever had anything of an intent, others used its number, and some that came after it
    are in blocks: there is no place left for it."""
    for slot in sight.open():
        if slot.sequence >= min(sight.landed, sight.committed):
            break
        if not is_out(slot, nodes.values()):
            reason = f"sequence {slot.sequence} was used by another transaction"
            status = Status.REFUSED.value
            sight.records.append(
                SlotSettled(slot.id, status, sight.now_ms, slot.sequence, reason, slot.intent)
            )
            sight.settled[slot.id] = None


def judge_used(sight: Sight) -> None:
    """A number is used, and none of our bytes is in a block of this node: who did it is asked."""
    shown = {seen.hash: seen for seen in sight.look.txs}
    for slot in sight.open():
        if slot.sequence >= sight.own:
            break
        attempt = slot.attempt
        if attempt is None or attempt.hash not in shown or slot.proving:
            continue
        if slot.intent is None:
            filled(sight, slot)
            continue
        lane, height = sight.lane, sight.look.height
        begun = height if slot.doubt_height is None else slot.doubt_height
        if height > begun + lane.settings.conflict_blocks:
            unknown(sight, slot)
        elif slot.doubt_height is None or height > begun:
            asked = replace(slot, doubt_height=begun, proving=True)
            sight.records.append(SlotChanged(asked, "proving"))
            sight.effects.append(ProveSequence(slot.sequence))


def filled(sight: Sight, slot: Slot) -> None:
    """Someone else filled the number."""
    status = Status.REFUSED.value
    sight.records.append(SlotSettled(slot.id, status, sight.now_ms, slot.sequence))
    sight.settled[slot.id] = None


def unknown(sight: Sight, slot: Slot) -> None:
    """Nobody knows who used its number: the caller is told so, with its bytes, and it is watched
    for a while."""
    reason = (
        f"sequence {slot.sequence} is used, and no node shows by whom: look for its hash before "
        "it is sent in another way"
    )
    watched = replace(slot, told=True, doubt_height=sight.look.height, making=False, delayed=False)
    told = SlotSettled(
        slot.id, Status.INDETERMINATE.value, sight.now_ms, slot.sequence, reason, slot.intent,
        stays=watched,
    )  # fmt: skip
    sight.records.append(told)


def forget_watched(sight: Sight) -> None:
    lane = sight.lane
    watched = [lane.slots[one] for one in lane.watched if one not in sight.settled]
    for place, slot in enumerate(watched):
        is_old = sight.look.height > (slot.doubt_height or 0) + lane.settings.watch_blocks
        if is_old or place < len(watched) - WATCHED_MAX:
            sight.records.append(SlotCorrected(slot.id, slot.intent))
            sight.settled[slot.id] = None


def judge_proof(lane: SequenceLane, event: SequenceProven) -> Decision:
    """Who used a number; if it was someone else, its intent's place in the order is lost, and its
    caller decides."""
    slot = lane.slot_at(event.sequence)
    if slot is None or not slot.proving:
        return NOTHING
    seen = event.seen
    if seen is None:
        return said([SlotChanged(replace(slot, proving=False), "doubted")])
    if lane.hashes.get(seen.hash) == slot.id:
        return said([committed(slot, seen, event.now_ms)])
    reason = (
        f"sequence {slot.sequence} was used by another transaction, {seen.hash.hex().upper()} in "
        f"block {seen.height}: someone else signs for this account"
    )
    return said(
        [
            SlotSettled(
                slot.id,
                Status.REFUSED.value,
                event.now_ms,
                slot.sequence,
                reason,
                slot.intent,
            )
        ]
    )


def is_overtaken(sight: Sight, nodes: dict[str, Node]) -> bool:
    """Whether others used the next numbers before any node had something of ours."""
    slots = sight.open()
    if not slots or slots[0].sequence >= sight.committed:
        return False
    return is_clear_from(sight.lane, slots[0].sequence, nodes.values(), sight.settled)


def renumbered(sight: Sight, state: Node) -> Decision:
    slots = sight.open()
    reason = f"others used sequence {slots[0].sequence}"
    told = SlotsRenumbered(sight.committed, reason, sight.now_ms)
    made = [
        make(sight.lane, moved(slot, number), height=sight.look.height)
        for number, slot in enumerate(slots, sight.committed)
    ]
    return said((NodeChanged(paced(sight, state)), *sight.records, told), made)


# Where its transactions stand.


def judge_standing(sight: Sight, node: Node, event: NodeLooked) -> Node:
    """What this node does not hold any more it is offered again, the lowest first."""
    if node.gate is not None and node.height > node.gate:
        node = replace(node, gate=None)
    if node.until or event.epoch != node.epoch or node.gate is not None:
        return node
    shown = {seen.hash: seen for seen in event.look.txs}
    for slot in sight.open():
        seen = None if slot.attempt is None else shown.get(slot.attempt.hash)
        if slot.sequence < sight.committed or seen is None:
            continue
        if slot.sequence >= min(event.until, node.next):
            break
        if seen.standing in LOST:
            return set_back(node, slot.sequence, lost_reason(slot, seen), event.look.height)
    return node


def lost_reason(slot: Slot, seen: TxSeen) -> str:
    word = seen.standing.value.lower()
    why = f" with code {seen.code}: {seen.log}" if seen.code else ""
    return clip(f"{word}: sequence {slot.sequence}{why}", LOG_BYTES_MAX)


# Bytes that can land no more.


def judge_ended(sight: Sight, nodes: dict[str, Node]) -> dict[str, Node]:
    dead = [slot for slot in sight.open() if is_dead(sight, slot)]
    gone = [slot.id for slot in dead]
    lane, height = sight.lane, sight.look.height
    for slot in dead:
        assert slot.attempt is not None
        reason = ended_reason(slot)
        if slot.intent is not None and len(slot.past) + 1 < lane.settings.attempts_max:
            again = ended(slot, reason)
            sight.records.append(SlotChanged(again, "dead"))
            sight.effects.append(make(lane, again, height=height))
        else:
            answer = give_up(
                lane, slot, Status.EXPIRED.value, reason, sight.now_ms,
                nodes=nodes.values(), dead=gone, height=height,
            )  # fmt: skip
            sight.records += answer.records
            sight.effects += answer.effects
            if is_fall_out(answer.records):
                break  # All above it are made again, dead or not.
        sight.changed[slot.sequence] = None
    if not sight.changed:
        return nodes
    return wound_back(lane, nodes, min(sight.changed), height, gone)


def is_dead(sight: Sight, slot: Slot) -> bool:
    """Its last block is over, with the one behind it, and the account is still below it: a node's
    height runs ahead of its account by one."""
    if slot.attempt is None or slot.sequence < sight.committed:
        return False
    return sight.look.height > slot.attempt.timeout_height


def ended_reason(slot: Slot) -> str:
    assert slot.attempt is not None
    last = f" ({slot.attempt.word})" if slot.attempt.word else ""
    return clip(f"not in a block up to {slot.attempt.timeout_height}{last}")
