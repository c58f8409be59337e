"""What came of orders: bytes that were made or not, and what nodes say of those they were
offered."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from laneway.core.cosmos import FINAL, Offered, OfferKind
from laneway.core.ids import IntentId
from laneway.core.outcome import Outcome, Status
from laneway.core.reason import clip
from laneway.lanes.sequence.fold import moved, started_again
from laneway.lanes.sequence.lane import (
    SequenceLane,
    is_clear_from,
    is_refused,
    may_have,
    need_of,
    replace,
)
from laneway.lanes.sequence.limits import LOG_BYTES_MAX, RAW_INLINE_MAX, RETRY_GROWTH_MAX
from laneway.lanes.sequence.rows import Attempt, Node, Purpose, Slot
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
    AttemptSigned,
    AttemptsMade,
    Effect,
    Made,
    MakeAttempt,
    MakingDelayed,
    NodeChanged,
    NotMade,
    OfferReturned,
    Record,
    SlotChanged,
    SlotFellOut,
    SlotSettled,
    Submitted,
)

GATED = (OfferKind.WRONG_SEQUENCE, OfferKind.MEMPOOL_FULL, OfferKind.NO_FUNDS, OfferKind.NO_ACCOUNT)
"""What later blocks may change by themselves."""

REMADE = (OfferKind.FEE_TOO_LOW, OfferKind.TIMED_OUT)
"""What other bytes of the same intent may mend."""

ENDED = (*FINAL, *REMADE, OfferKind.REFUSED)
"""Where no node ever had the bytes, there is no use in offering them again."""

PROVEN = (*ENDED, *GATED)
"""Whoever says so does not have them."""

TURNED_AWAY = tuple([kind.value for kind in (*FINAL, OfferKind.REFUSED)])
"""Words that end an intent whose bytes can land no more: other bytes of it would have no other
end."""

# What was made.


def judge_made(lane: SequenceLane, event: AttemptsMade) -> Decision:
    records: list[Record] = []
    effects: list[Effect] = []
    fallen: tuple[Record, ...] = ()
    signed: dict[int, Signed | None] = {}
    for slot, one in wanted(lane, event):
        if lane.head.halt:
            later = replace(slot, delayed=True)
            records += [SlotChanged(later, "delayed"), MakingDelayed(event.now_ms)]
            continue
        if isinstance(one, Made) and slot.sequence < lane.head.committed:
            continue  # Others used its number: it is given another one, or its answer.
        if isinstance(one, Made):
            records.append(sign(lane, slot, one, event.now_ms))
            signed[slot.sequence] = Signed(one.hash, one.raw)
            continue
        if is_hopeless(lane, slot, one):
            status = Status.EXPIRED if one.expired else Status.REFUSED
            answer = give_up(
                lane, slot, status.value, one.reason, event.now_ms, nodes=lane.nodes.values()
            )
            effects += answer.effects
            if is_fall_out(answer.records):
                # Those above are made again, each at the number below.
                signed |= {above: None for above in lane.numbers if above >= slot.sequence}
                fallen = answer.records
                break
            records += answer.records
            continue
        delayed = replace(
            slot, delayed=True, make_tries=slot.make_tries + 1, wait_reason=clip(one.reason)
        )
        pause_ms = lane.settings.make_retry_ms << min(slot.make_tries, RETRY_GROWTH_MAX)
        records += [SlotChanged(delayed, "delayed"), MakingDelayed(event.now_ms + pause_ms)]
    if not records and not fallen:
        return NOTHING
    nodes = looked_at_soon(lane, event.now_ms) if any(signed.values()) else lane.nodes
    sent = offers(lane, nodes, signed)
    # Who falls out moves the nodes, as they stand after what they are offered below it.
    return said((*records, *sent.records, *fallen), (*effects, *sent.effects))


def wanted(lane: SequenceLane, event: AttemptsMade) -> list[tuple[Slot, Made | NotMade]]:
    """What is still asked for, the lowest sequence first: whoever falls out moves all above it."""
    found = [(lane.slots.get(one.slot), one) for one in event.made]
    asked = [
        (slot, one)
        for slot, one in found
        if slot is not None and slot.making and one.number == slot.attempt_next
    ]
    return sorted(asked, key=lambda pair: pair[0].sequence)


def looked_at_soon(lane: SequenceLane, now_ms: int) -> dict[str, Node]:
    """What is signed ends by what nodes show, also where no node is offered it."""
    later = now_ms + lane.settings.poll_ms
    return {
        node.name: replace(node, look_ms=later)
        if node.is_unseen() or (node.look_ms or 0) > later
        else node
        for node in lane.nodes.values()
    }


def sign(lane: SequenceLane, slot: Slot, one: Made, now_ms: int) -> AttemptSigned:
    size = len(one.raw)
    # The lower one: nodes may have shown blocks that are not there since the bytes were ordered.
    made_height = min(lane.head.height, one.timeout_height - lane.settings.timeout_blocks)
    attempt = Attempt(
        number=one.number,
        hash=one.hash,
        purpose=slot.purpose,
        gas=one.gas,
        fee=one.fee,
        timeout_height=one.timeout_height,
        made_ms=now_ms,
        size=size,
        raw=one.raw if size <= RAW_INLINE_MAX else b"",
        made_height=max(0, made_height),
    )
    done = replace(slot, making=False, delayed=False, make_tries=0, attempt=attempt, wait_reason="")
    return AttemptSigned(done, b"" if attempt.raw else one.raw)


def is_hopeless(lane: SequenceLane, slot: Slot, one: NotMade) -> bool:
    if slot.intent is None or slot.is_unproven():
        # A filler is made until it lands, or is needed no more; and an intent of which bytes may
        # still land has no answer yet.
        return False
    return one.final or (one.fails and slot.make_tries + 1 >= lane.settings.make_tries_max)


def is_fall_out(records: Iterable[Record]) -> bool:
    return any(isinstance(record, SlotFellOut) for record in records)


# The end of an intent that is in no block.


def give_up(
    lane: SequenceLane,
    slot: Slot,
    status: str,
    reason: str,
    now_ms: int,
    *,
    nodes: Collection[Node],
    dead: Collection[int] = (),
    height: int | None = None,
) -> Decision:
    """A final answer to an intent of whose bytes none can land. Where nothing above it can land
    either, those move down; otherwise its number is filled, so that they need not be made again.
    A filler is needed no more in the first case, and made again in the other. `nodes` is how they
    stand after this decision, in which the bytes of `dead` ended and `height` was seen."""
    reason = clip(reason)
    if slot.sequence < lane.head.committed:
        # Someone else used its number: there is nothing to fill, and nobody moves.
        return said([SlotSettled(slot.id, status, now_ms, slot.sequence, reason, slot.intent)])
    if is_clear_from(lane, slot.sequence, nodes, (*dead, slot.id)):
        fallen = SlotFellOut(slot.id, status, reason, now_ms, slot.intent)
        return said([fallen], make_moved(lane, slot, height))
    if slot.intent is None:
        again = ended(slot, reason)
        return said([SlotChanged(again, "dead")], [make(lane, again, height=height)])
    filler = replace(
        slot if slot.attempt is None else ended(slot, reason),
        intent=None,
        size=0,
        purpose=Purpose.FILLER,
        making=True,
        delayed=False,
        make_tries=0,
        attempt_next=slot.attempt_next + 1,
        wait_reason="",
    )
    told = SlotSettled(slot.id, status, now_ms, slot.sequence, reason, slot.intent, stays=filler)
    return said([told], [make(lane, filler, height=height)])


def make_moved(lane: SequenceLane, fallen: Slot, height: int | None) -> list[MakeAttempt]:
    """The bytes of those above one that falls out, each for the number below its own."""
    return [
        make(lane, moved(slot, slot.sequence - 1), height=height)
        for slot in lane.in_order()
        if slot.sequence > fallen.sequence
    ]


# What nodes say.


class Heard(Struct, frozen=True):
    """How a node stands after its answers, and the first that it did not take."""

    node: Node
    slot: Slot | None = None
    answer: Offered | None = None
    is_first: bool = False
    """It never had these bytes before."""
    taken: tuple[Slot, ...] = ()


def judge_offer(lane: SequenceLane, event: OfferReturned) -> Decision:
    node = lane.nodes.get(event.node)
    if node is None or not node.until or node.serial != event.serial:
        return NOTHING
    if event.again != (lane.life if lane.inherited.get(node.name) == node.serial else 0):
        return NOTHING  # Of an earlier life: the same was offered again since.
    if node.epoch != event.epoch:
        # It was set back meanwhile: all of this may be offered to it again.
        back = replace(node, until=0, top=max(node.top, node.until))
        unsure_now = unsure(lane, event)
        sent = offers(lane, {**lane.nodes, node.name: back})
        return said((*unsure_now, *sent.records), sent.effects)
    heard = hear(lane, node, event)
    records = taken_records(lane, heard)
    effects: list[Effect] = []
    nodes = {**lane.nodes, node.name: heard.node}
    changed: dict[int, Signed | None] = {}
    if heard.slot is not None and heard.answer is not None:
        state = waiting(lane, heard.node, heard.slot, heard.answer, event.now_ms)
        nodes[node.name] = state
        end = judge_refusal(lane, heard, nodes, event.now_ms)
        records += [*unsure(lane, event, heard), *end.records]
        effects += end.effects
        if is_fall_out(end.records):
            # Every node stands below it now; what is made for the numbers goes to them then.
            return said((NodeChanged(state), *records), effects)
        if has_ended(end.records):
            low = heard.slot.sequence
            changed[low] = None
            nodes = wound_back(lane, nodes, low, state.height, [heard.slot.id])
    sent = offers(lane, nodes, changed)
    return said((*records, *sent.records), (*effects, *sent.effects))


def has_ended(records: Iterable[Record]) -> bool:
    """Whether the bytes at a number are to be others."""
    return any(
        record.stays is not None if isinstance(record, SlotSettled) else record.what == "dead"
        for record in records
        if isinstance(record, SlotSettled | SlotChanged)
    )


def wound_back(
    lane: SequenceLane, nodes: Mapping[str, Node], low: int, height: int, dead: Collection[int]
) -> dict[str, Node]:
    """Nodes that are to be offered other bytes from a number on; those of `dead` have ended. Where
    nothing from there on can land, whatever they take next they take for the first time."""
    is_clear = is_clear_from(lane, low, nodes.values(), dead)
    found: dict[str, Node] = {}
    for name, node in nodes.items():
        if node.offered_until() <= low:
            found[name] = node
        elif is_clear:
            found[name] = started_again(node, low)
        else:
            reason = node.reason or f"sequence {low} is made again"
            found[name] = set_back(node, min(node.next, low), reason, height)
    return found


def hear(lane: SequenceLane, node: Node, event: OfferReturned) -> Heard:
    """One answer after the other, as long as it takes what it is offered."""
    place, top = node.next, node.top
    if event.again:
        # In an earlier life it may have been offered all of it.
        top = max(top, node.until)
    taken: list[Slot] = []
    for number, hash_, answer in zip(
        range(event.first, event.first + len(event.hashes)),
        event.hashes,
        event.answers,
        strict=True,
    ):
        slot = lane.slot_at(number)
        is_taken = answer.kind.outcome() is Outcome.ACCEPTED
        if slot is None or slot.attempt is None or slot.attempt.hash != hash_:
            # It was settled meanwhile.
            place = max(place, number + 1)
            if is_taken:
                continue
            # What came behind it was not offered.
            return Heard(
                replace(node, next=place, top=max(top, place), until=0), taken=tuple(taken)
            )
        if is_taken:
            place, top = number + 1, max(top, number + 1)
            taken.append(slot)
            continue
        is_first = not event.again and (number >= top or node.name in slot.attempt.refused)
        if answer.kind is not OfferKind.UNREACHABLE:
            top = max(top, number + 1)
        stopped = replace(node, next=max(place, number), top=top, until=0)
        return Heard(stopped, slot, answer, is_first, tuple(taken))
    done = replace(node, next=place, top=max(top, node.until), until=0, failures=0)
    if done.next >= done.top:
        done = replace(done, reason="", expected=None, ours=None)
    return Heard(done, taken=tuple(taken))


def unsure(
    lane: SequenceLane, event: OfferReturned, heard: Heard | None = None
) -> list[SlotChanged]:
    """What a node had refused as often as it was offered it, and may have taken now. A refusal that
    is judged for itself is left aside."""
    found: list[SlotChanged] = []
    for hash_, answer in zip(event.hashes, event.answers, strict=True):
        slot = lane.slots.get(lane.hashes.get(hash_, 0))
        attempt = None if slot is None else slot.attempt
        if slot is None or attempt is None or attempt.hash != hash_:
            continue
        is_judged = heard is not None and (
            answer.kind.outcome() is Outcome.ACCEPTED
            or (heard.slot is slot and answer.kind is not OfferKind.UNREACHABLE)
        )
        is_kept = not event.again and answer.kind in (*PROVEN, OfferKind.UNREACHABLE)
        if event.node in attempt.refused and not (is_judged or is_kept):
            held = not_refused(attempt, event.node)
            found.append(SlotChanged(replace(slot, attempt=held), "unsure"))
    return found


def without(names: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple([one for one in names if one != name])


def not_refused(attempt: Attempt, name: str) -> Attempt:
    """This node may have it now."""
    refused, final = without(attempt.refused, name), without(attempt.final, name)
    return replace(attempt, refused=refused, final=final)


def taken_records(lane: SequenceLane, heard: Heard) -> list[Record]:
    """What some node has for the first time."""
    name = heard.node.name
    records: list[Record] = []
    fresh: list[tuple[IntentId | None, bytes]] = []
    for slot in heard.taken:
        attempt = slot.attempt
        assert attempt is not None
        is_early = attempt.number == 1
        if is_early and slot.sequence >= lane.head.taken_next:
            fresh.append((slot.intent, attempt.hash))
        if name in attempt.refused or not (is_early or attempt.taken):
            held = replace(not_refused(attempt, name), taken=True)
            records.append(SlotChanged(replace(slot, attempt=held), "taken"))
    if fresh:
        intents, hashes = zip(*fresh, strict=True)
        records.append(Submitted(heard.taken[-1].sequence + 1, name, intents, hashes))
    return records


def waiting(lane: SequenceLane, node: Node, slot: Slot, answer: Offered, now_ms: int) -> Node:
    """A node that did not take something: it is asked again after a block, or after a while."""
    word = told(answer)
    since = node.since_height if node.reason else node.height
    if answer.kind not in PROVEN:
        return retried(lane, node, word, since, now_ms)
    return replace(
        node,
        gate=node.height,
        failures=0,
        reason=word,
        expected=answer.expected,
        ours=slot.sequence,
        since_height=since,
    )


def retried(lane: SequenceLane, node: Node, word: str, since: int, now_ms: int) -> Node:
    pause_ms = lane.settings.retry_ms << min(node.failures, RETRY_GROWTH_MAX)
    return replace(
        node,
        retry_ms=now_ms + pause_ms,
        failures=node.failures + 1,
        reason=word,
        expected=None,
        ours=None,
        since_height=since,
    )


def told(answer: Offered) -> str:
    log = f": {answer.log}" if answer.log else ""
    return clip(f"{answer.kind.value}{log}", LOG_BYTES_MAX)


def judge_refusal(
    lane: SequenceLane, heard: Heard, nodes: Mapping[str, Node], now_ms: int
) -> Decision:
    """A number of which no node ever had anything is free; all else waits for the chain's word."""
    slot, answer = heard.slot, heard.answer
    assert slot is not None
    assert slot.attempt is not None
    assert answer is not None
    if answer.kind is OfferKind.UNREACHABLE:
        return NOTHING
    refused = without(slot.attempt.refused, answer.node)
    final = without(slot.attempt.final, answer.node)
    if heard.is_first and answer.kind in PROVEN:
        refused = (*refused, answer.node)
        final = (*final, answer.node) if answer.kind in FINAL else final
    attempt = replace(
        slot.attempt,
        refused=refused,
        final=final,
        word=told(answer),
        code=answer.code,
        codespace=clip(answer.codespace, LOG_BYTES_MAX),
    )
    noted = replace(slot, attempt=attempt)
    waits = NOTHING if noted == slot else said([SlotChanged(noted, "refused")])
    is_used = slot.sequence < lane.head.committed
    is_had = any(may_have(node, slot.sequence, refused) for node in nodes.values())
    if answer.kind not in ENDED or is_used or is_had or not is_turned_away_by_most(lane, attempt):
        # Whoever used its number, the chain is asked about it.
        return waits
    is_proven = is_refused(lane, attempt)
    is_mended = answer.kind in REMADE and len(slot.past) + 1 < lane.settings.attempts_max
    if slot.intent is not None and is_mended:
        # At the same number: whichever of its bytes lands, no other can.
        again = ended(noted, told(answer), proven=is_proven)
        return said([SlotChanged(again, "dead")], [make(lane, again)])
    if not is_proven or slot.is_unproven():
        return waits
    status = Status.EXPIRED if answer.kind is OfferKind.TIMED_OUT else Status.REFUSED
    return give_up(lane, slot, status.value, told(answer), now_ms, nodes=nodes.values())


def is_turned_away_by_most(lane: SequenceLane, attempt: Attempt) -> bool:
    """Whether a majority of the nodes refused it as often as they were offered it."""
    return sum([name in attempt.refused for name in lane.settings.nodes]) >= need_of(lane)


def is_turned_away(lane: SequenceLane, attempt: Attempt) -> bool:
    """And for a reason that other bytes of the same intent would meet too."""
    word = attempt.word.partition(":")[0]
    return word in TURNED_AWAY and is_turned_away_by_most(lane, attempt)
