"""What a look at a node says of the account and its transactions.

A block is final: what a majority of the nodes shows in one ends a slot. Everything else a node
shows is how things look from there, and decides only what it is to be offered again. Bytes can land
no more when a majority of the nodes, each with a block above their last one, still counts the
account below them.
"""

from msgspec import Struct

from laneway.core.cosmos import CosmosLook, TxSeen, TxStanding
from laneway.core.majority import agreed
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.answers import (
    attempt_ended,
    give_up,
    is_fall_out,
    is_turned_away,
    wound_back,
)
from laneway.lanes.sequence.belief import Belief, BlockPace, believed, contradiction, seen_at
from laneway.lanes.sequence.fold import changed, ended, moved
from laneway.lanes.sequence.inclusion import committed, is_last, is_unused, trusted, voters
from laneway.lanes.sequence.lane import (
    SequenceLane,
    is_clear_from,
    is_out,
    need_of,
    reached,
    replace,
    shown_by,
)
from laneway.lanes.sequence.limits import (
    LAG_BLOCKS_MAX,
    LOG_BYTES_MAX,
    SHOWN_HASH_BYTES,
    WATCHED_MAX,
)
from laneway.lanes.sequence.rows import Attempt, InclusionVote, Node, Past, Slot
from laneway.lanes.sequence.tries import (
    NOTHING,
    Decision,
    SignedAttempt,
    about,
    decided,
    make,
    offers,
    set_back,
)

LOST = (TxStanding.EVICTED, TxStanding.REJECTED, TxStanding.UNKNOWN)
"""What a node does not hold: its mempool is asked before the caches of what it dropped."""


class LookJudged(Struct):
    """One look, judged step by step."""

    lane: SequenceLane
    look: CosmosLook
    now_ms: int
    belief: Belief
    committed: int
    """The account's sequence, as far as a majority showed it."""
    own: int
    """And as this node shows it."""
    landed: int
    """Above all sequences at which an intent is in a block."""
    settled: dict[int, None]
    """Slots that ended."""
    records: list[v.Record]
    effects: list[v.Effect]
    changed: dict[int, SignedAttempt | None]
    """Numbers whose bytes ended."""
    noted: dict[int, Slot]
    """Slots as they stand after what was noted of them in this look."""

    def open(self) -> list[Slot]:
        slots = self.lane.in_order()
        return [self.noted.get(one.id, one) for one in slots if one.id not in self.settled]

    def end(self, slot: Slot, record: v.SlotSettled | v.SlotCorrected) -> None:
        self.records.append(record)
        self.settled[slot.id] = None

    def note(self, slot: Slot, record: v.OfSlot) -> None:
        self.noted[slot.id] = changed(slot, record)
        self.records.append(record)


def judge_look(lane: SequenceLane, event: v.NodeLooked) -> Decision:
    look, now_ms = event.look, event.now_ms
    node = lane.nodes.get(look.node)
    if node is None or not node.looking:
        return NOTHING
    state = testified(node, look, now_ms)
    nodes = {**lane.nodes, state.name: state}
    belief = believed(lane.head, lane.settings, nodes.values(), now_ms)
    reason = contradiction(lane.head, belief)
    if reason:
        return judge_halt(lane, state, reason, now_ms)
    if belief.sequence is None or belief.number is None or state.sequence is None:
        return judge_unread(lane, state, belief, now_ms)
    committed, landed = max(lane.head.committed, belief.sequence), lane.head.landed_next
    own = state.sequence
    sight = LookJudged(lane, look, now_ms, belief, committed, own, landed, {}, [], [], {}, {})
    settle_committed(sight)
    sight.records.insert(0, seen_at(belief, sight.committed, belief.number, shown_at(sight)))
    forget_watched(sight)
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
        moves = [v.NodeChanged(one) for one in nodes.values() if one != lane.nodes[one.name]]
        return decided((*moves, *sight.records), sight.effects)
    sent = offers(lane, nodes, sight.changed, committed=sight.committed, ended=sight.settled)
    return decided((*sight.records, *sent.records), (*sight.effects, *sent.effects))


def testified(node: Node, look: CosmosLook, now_ms: int) -> Node:
    """A node with what it shows of the account and the chain now."""
    account = look.account
    return replace(
        node,
        looking=False,
        blind=False,
        height=look.height,
        seen_ms=max(1, now_ms),
        sequence=None if account is None else account.sequence,
        number=0 if account is None else account.number,
        origin_height=look.origin_height,
        origin=look.origin[:SHOWN_HASH_BYTES],
    )


def shown_at(sight: LookJudged) -> int:
    """The highest block that the account's sequence was shown at."""
    head, belief = sight.lane.head, sight.belief
    if belief.sequence == sight.committed:
        return belief.sequence_height
    return head.committed_height if head.committed == sight.committed else belief.height


def judge_unread(lane: SequenceLane, state: Node, belief: Belief, now_ms: int) -> Decision:
    """Too few nodes show the account, or a majority says that it does not exist."""
    settings, head = lane.settings, lane.head
    if belief.is_missing and (head.sequence_next is None or head.is_missing):
        again = replace(state, look_ms=now_ms + settings.account_ms)
        return decided([v.NodeChanged(again), v.AccountMissing(now_ms)])
    others = [node for node in lane.live() if node.name != state.name]
    is_few = sum([node.seen_ms > 0 for node in belief.nodes]) < belief.need
    if is_few and not lane.slots and any(node.looking for node in others):
        return decided([v.NodeChanged(state)])  # They may be enough.
    waiting = [state, *(node for node in others if node.is_unseen())]
    later_ms = now_ms + settings.poll_ms
    return decided(
        [
            v.NodeChanged(replace(node, look_ms=later_ms if node.seen_ms else now_ms))
            for node in waiting
        ]
    )


def judge_halt(lane: SequenceLane, state: Node, reason: str, now_ms: int) -> Decision:
    """What was believed is taken back: until an operator decides, or the nodes show it again,
    nothing is judged upon it. All of them are looked at, for any majority may show it. The first
    evidence is kept."""
    others = [node for node in lane.live() if node.name != state.name and node.is_unseen()]
    later_ms = now_ms + lane.settings.account_ms
    again = [v.NodeChanged(replace(node, look_ms=later_ms)) for node in (state, *others)]
    if lane.head.halt:
        return decided(again)
    return decided([*again, v.LaneHalted(clip(reason), now_ms)])


def paced(sight: LookJudged, node: Node) -> Node:
    """When it is looked at next: while something is out, or watched."""
    lane = sight.lane
    is_busy = len(lane.slots) > len(sight.settled)
    return replace(node, look_ms=sight.now_ms + lane.settings.poll_ms if is_busy else None)


# Ends that a block proves.


def settle_committed(sight: LookJudged) -> None:
    """What a majority shows in the same block, with the same end, while it counts the number as
    used: bytes that failed before their fee was taken did not use it, and a block that a majority
    has counts all that is in it."""
    for seen in sight.look.txs:
        number = sight.lane.hashes.get(seen.hash)
        if number is None or number in sight.settled:
            continue
        slot = sight.noted.get(number, sight.lane.slots[number])
        if seen.standing is not TxStanding.COMMITTED:
            if slot.shown:
                unvote(sight, slot, seen.hash)
            continue
        if seen.code and not is_last(slot, seen):
            continue
        noted = voted(sight, slot, seen)
        is_used = slot.sequence < sight.committed
        alike = voters(sight.belief, noted, seen)
        if not is_used or len(alike) < sight.belief.need:
            if noted != slot:
                sight.note(slot, v.InclusionShown(*about(slot), noted.shown))
            continue
        sight.end(slot, committed(slot, trusted(sight.lane, seen, alike), sight.now_ms))
        if slot.intent is not None:
            sight.landed = max(sight.landed, slot.sequence + 1)


def voted(sight: LookJudged, slot: Slot, seen: TxSeen) -> Slot:
    """A slot with one node's vote on it; each node has one. A node's height runs ahead of its
    account by one."""
    look = sight.look
    is_unspent = bool(seen.code) and sight.own <= slot.sequence and look.height > seen.height
    place = (look.node, seen.hash[:SHOWN_HASH_BYTES], seen.height, seen.code)
    known = [one for one in slot.shown if (one.node, one.hash, one.height, one.code) == place]
    if any(one.unused or not is_unspent for one in known):
        return slot
    vote = InclusionVote(*place, is_unspent, seen.gas_wanted, seen.gas_used)
    others = [one for one in slot.shown if one.node != look.node]
    return replace(slot, shown=(*others, vote))


def unvote(sight: LookJudged, slot: Slot, hash_: bytes) -> None:
    """This node shows these bytes in no block any more: its vote on them is taken back."""
    vote = (sight.look.node, hash_[:SHOWN_HASH_BYTES])
    kept = tuple([one for one in slot.shown if (one.node, one.hash) != vote])
    if kept != slot.shown:
        sight.note(slot, v.InclusionShown(*about(slot), kept))


# Numbers that are used.


def settle_passed(sight: LookJudged, nodes: dict[str, Node]) -> None:
    """No node ever had anything of an intent, others used its number, and some that came after it
    are in blocks, or may be: there is no place left for it."""
    lane = sight.lane
    watched = [lane.slots[one].sequence + 1 for one in lane.watched]
    passed = min(max([sight.landed, *watched]), sight.committed)
    for slot in sight.open():
        if slot.sequence >= passed:
            break
        if not is_out(sight.lane, slot, nodes.values()):
            reason = f"sequence {slot.sequence} was used by another transaction"
            sight.end(slot, refused(slot, sight.now_ms, reason))


def judge_used(sight: LookJudged) -> None:
    """A number is used, and none of our bytes is in a block of this node: who did it is asked."""
    shown = {seen.hash: seen for seen in sight.look.txs}
    for slot in sight.open():
        if slot.sequence >= min(sight.own, sight.committed):
            break
        mine = [] if slot.attempt is None else [slot.attempt.hash]
        mine += [past.hash for past in slot.past if not past.proven]
        if not mine or mine[0] not in shown or slot.proving or is_in_block(slot, shown, mine):
            continue
        if slot.intent is None:
            sight.end(slot, refused(slot, sight.now_ms))  # Someone else filled the number.
            continue
        lane, height = sight.lane, sight.belief.proven
        begun = height if slot.doubt_height is None else slot.doubt_height
        # The last question is asked after that many blocks: while nobody ran, nobody asked.
        if (slot.asked_height or 0) > begun + lane.settings.conflict_blocks:
            unknown(sight, slot)
        elif slot.doubt_height is None or height > begun:
            sight.note(slot, v.ProofOrdered(*about(slot), begun, height))
            sight.effects.append(v.ProveSequence(slot.sequence))


def is_in_block(slot: Slot, shown: dict[bytes, TxSeen], hashes: list[bytes]) -> bool:
    """Whether this node shows one of these in a block, where no other node has shown it yet. Bytes
    that failed there are no answer while others of the slot may have used its number."""
    found = [shown[one] for one in hashes if one in shown and not is_unused(slot, shown[one])]
    landed = [one for one in found if one.standing is TxStanding.COMMITTED]
    return any(not one.code or is_last(slot, one) for one in landed)


def refused(slot: Slot, now_ms: int, reason: str = "") -> v.SlotSettled:
    """The end of a slot whose number someone else used."""
    status = Status.REFUSED.value
    return v.SlotSettled(slot.id, status, now_ms, slot.sequence, reason, slot.intent)


def unknown(sight: LookJudged, slot: Slot) -> None:
    """Too few know who used its number: that is the answer to its caller, with its bytes, and the
    slot is watched for a while."""
    why = shown_by(sight.lane, slot) or "no node shows by whom"
    reason = clip(
        f"sequence {slot.sequence} is used, and {why}: look for its hash before it is sent in "
        "another way"
    )
    height = sight.belief.proven
    watched = replace(slot, told=True, doubt_height=height, making=False, delayed=False)
    answer = v.SlotSettled(
        slot.id, Status.INDETERMINATE.value, sight.now_ms, slot.sequence, reason, slot.intent,
        stays=watched,
    )  # fmt: skip
    sight.records.append(answer)


def forget_watched(sight: LookJudged) -> None:
    lane = sight.lane
    watched = [lane.slots[one] for one in lane.watched if one not in sight.settled]
    for place, slot in enumerate(watched):
        is_old = sight.belief.proven > (slot.doubt_height or 0) + lane.settings.watch_blocks
        if is_old or place < len(watched) - WATCHED_MAX:
            sight.end(slot, v.SlotCorrected(slot.id, slot.intent))


def judge_proof(lane: SequenceLane, event: v.SequenceProven) -> Decision:
    """Who used a number; if it was someone else, its intent's place in the order is lost, and its
    caller decides. A proof that comes after a failed question is a proof all the same."""
    slot = lane.slot_at(event.sequence)
    if slot is None or slot.doubt_height is None or slot.told:
        return NOTHING
    votes = [(one.hash, one.height, one.code) for one in event.shown]
    vote = agreed(votes, need_of(lane))
    seen = None if vote is None else event.shown[votes.index(vote)]
    if seen is None or is_unused(slot, seen):
        return decided([v.ProofFailed(*about(slot))]) if slot.proving else NOTHING
    if lane.hashes.get(seen.hash) == slot.id:
        alike = [one for one, other in zip(event.shown, votes, strict=True) if other == vote]
        return decided([committed(slot, trusted(lane, seen, alike), event.now_ms)])
    reason = (
        f"sequence {slot.sequence} was used by another transaction, {seen.hash.hex().upper()} in "
        f"block {seen.height}: someone else signs for this account"
    )
    return decided([refused(slot, event.now_ms, reason)])


def is_overtaken(sight: LookJudged, nodes: dict[str, Node]) -> bool:
    """Whether others used the next numbers before any node had something of ours."""
    slots = sight.open()
    if not slots or slots[0].sequence >= sight.committed:
        return False
    return is_clear_from(sight.lane, slots[0].sequence, nodes.values(), sight.settled)


def renumbered(sight: LookJudged, state: Node) -> Decision:
    slots = sight.open()
    reason = f"others used sequence {slots[0].sequence}"
    moves = v.SlotsRenumbered(sight.committed, reason, sight.now_ms)
    made = [
        make(sight.lane, moved(slot, number), height=sight.belief.height)
        for number, slot in enumerate(slots, sight.committed)
    ]
    return decided((v.NodeChanged(paced(sight, state)), *sight.records, moves), made)


# Where its transactions stand.


def judge_standing(sight: LookJudged, node: Node, event: v.NodeLooked) -> Node:
    """What this node does not hold any more it is offered again, the lowest first."""
    if node.gate is not None and not node.gate - LAG_BLOCKS_MAX <= node.height <= node.gate:
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
    standing = seen.standing.value.lower()
    why = f" with code {seen.code}: {seen.log}" if seen.code else ""
    return clip(f"{standing}: sequence {slot.sequence}{why}", LOG_BYTES_MAX)


# Bytes that can land no more.


def judge_ended(sight: LookJudged, nodes: dict[str, Node]) -> dict[str, Node]:
    judge_past(sight)
    dead = [slot for slot in sight.open() if is_dead(sight, slot)]
    gone = [slot.id for slot in dead]
    lane, height = sight.lane, sight.belief.height
    for slot in dead:
        assert slot.attempt is not None
        status, reason = Status.EXPIRED, ended_reason(slot)
        is_refused = is_turned_away(lane, slot.attempt)
        if is_refused:
            status, reason = Status.REFUSED, slot.attempt.word
        is_last_one = len(slot.past) + 1 >= lane.settings.attempts_max
        if slot.intent is not None and not (is_refused or is_last_one):
            again = ended(slot, reason)
            sight.note(slot, attempt_ended(again))
            sight.effects.append(make(lane, again, height=height))
        else:
            answer = give_up(
                lane, slot, status.value, reason, sight.now_ms,
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


def judge_past(sight: LookJudged) -> None:
    """Bytes that were given up before their last block: it is over for all nodes now."""
    for slot in sight.open():
        if slot.is_unproven():
            proven = tuple([one.proven or is_over(sight, slot, one) for one in slot.past])
            if proven != tuple([one.proven for one in slot.past]):
                sight.note(slot, v.PastProven(*about(slot), proven))


def is_dead(sight: LookJudged, slot: Slot) -> bool:
    """Its last block is over for a majority of the nodes, and the account is still below it."""
    if slot.attempt is None or slot.sequence < sight.committed or slot.is_unproven():
        return False
    return is_over(sight, slot, slot.attempt)


def is_over(sight: LookJudged, slot: Slot, one: Attempt | Past) -> bool:
    made = BlockPace(one.made_height, one.made_ms)
    return sight.belief.is_over(slot.sequence, one.timeout_height, made)


def ended_reason(slot: Slot) -> str:
    assert slot.attempt is not None
    last = f" ({slot.attempt.word})" if slot.attempt.word else ""
    return clip(f"not in a block up to {slot.attempt.timeout_height}{last}")
