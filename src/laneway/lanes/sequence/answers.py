"""What came of orders: bytes that were made or not, and what nodes say of those they were
offered."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from laneway.core.cosmos import FINAL, OfferAnswer, OfferKind
from laneway.core.ids import IntentId
from laneway.core.outcome import Outcome, Status
from laneway.core.reason import clip
from laneway.lanes.sequence import values as v
from laneway.lanes.sequence.fold import ended, moved, started_again
from laneway.lanes.sequence.lane import (
    SequenceLane,
    is_clear_from,
    is_refused,
    may_have,
    need_of,
    recovered,
    replace,
)
from laneway.lanes.sequence.limits import LOG_BYTES_MAX, RAW_INLINE_MAX, RETRY_GROWTH_MAX
from laneway.lanes.sequence.rows import Attempt, Node, Purpose, Slot
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

GATED = (OfferKind.WRONG_SEQUENCE, OfferKind.MEMPOOL_FULL, OfferKind.NO_FUNDS, OfferKind.NO_ACCOUNT)
"""What later blocks may change by themselves."""

REMADE = (OfferKind.FEE_TOO_LOW, OfferKind.TIMED_OUT)
"""What other bytes of the same intent may fix."""

ENDED = (*FINAL, *REMADE, OfferKind.REFUSED)
"""Where no node ever had the bytes, there is no use in offering them again."""

PROVEN = (*ENDED, *GATED)
"""Answers of a node that does not hold the bytes."""

TURNED_AWAY = tuple([kind.value for kind in (*FINAL, OfferKind.REFUSED)])
"""Words that end an intent whose bytes can land no more: other bytes of it would have no other
end."""

# What was made.


def judge_made(lane: SequenceLane, event: v.AttemptsMade) -> Decision:
    records: list[v.Record] = []
    effects: list[v.Effect] = []
    fallen: tuple[v.Record, ...] = ()
    signed: dict[int, SignedAttempt | None] = {}
    for slot, one in wanted(lane, event):
        if lane.head.halt:
            records += [
                delayed(slot, slot.make_tries, slot.wait_reason),
                v.MakingDelayed(event.now_ms),
            ]
            continue
        if isinstance(one, v.Made) and slot.sequence < lane.head.committed:
            continue  # Others used its number: it is given another one, or its answer.
        if isinstance(one, v.Made):
            records.append(sign(lane, slot, one, event.now_ms))
            signed[slot.sequence] = SignedAttempt(one.hash, one.raw)
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
        pause_ms = lane.settings.make_retry_ms << min(slot.make_tries, RETRY_GROWTH_MAX)
        later = delayed(slot, slot.make_tries + 1, clip(one.reason))
        records += [later, v.MakingDelayed(event.now_ms + pause_ms)]
    if not records and not fallen:
        return NOTHING
    nodes = looked_at_soon(lane, event.now_ms) if any(signed.values()) else lane.nodes
    sent = offers(lane, nodes, signed)
    # Who falls out moves the nodes, as they stand after what they are offered below it.
    return decided((*records, *sent.records, *fallen), (*effects, *sent.effects))


def wanted(lane: SequenceLane, event: v.AttemptsMade) -> list[tuple[Slot, v.Made | v.NotMade]]:
    """What is still asked for, the lowest sequence first: one that falls out moves all above it."""
    found = [(lane.slots.get(one.slot), one) for one in event.made]
    asked = [
        (slot, one)
        for slot, one in found
        if slot is not None and slot.making and one.number == slot.attempt_next
    ]
    return sorted(asked, key=lambda pair: pair[0].sequence)


def delayed(slot: Slot, tries: int, reason: str) -> v.AttemptDelayed:
    return v.AttemptDelayed(slot.id, reason, slot.intent, slot.sequence, tries)


def looked_at_soon(lane: SequenceLane, now_ms: int) -> dict[str, Node]:
    """What is signed ends by what nodes show, also where no node is offered it."""
    later = now_ms + lane.settings.poll_ms
    return {
        node.name: replace(node, look_ms=later)
        if node.is_unseen() or (node.look_ms or 0) > later
        else node
        for node in lane.nodes.values()
    }


def sign(lane: SequenceLane, slot: Slot, one: v.Made, now_ms: int) -> v.AttemptSigned:
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
    return v.AttemptSigned(done, b"" if attempt.raw else one.raw)


def is_hopeless(lane: SequenceLane, slot: Slot, one: v.NotMade) -> bool:
    if slot.intent is None or slot.is_unproven():
        # A filler is made until it lands, or is needed no more; and an intent of which bytes may
        # still land has no answer yet.
        return False
    return one.final or (one.fails and slot.make_tries + 1 >= lane.settings.make_tries_max)


def is_fall_out(records: Iterable[v.Record]) -> bool:
    return any(isinstance(record, v.SlotFellOut) for record in records)


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
        return decided([v.SlotSettled(slot.id, status, now_ms, slot.sequence, reason, slot.intent)])
    if is_clear_from(lane, slot.sequence, nodes, (*dead, slot.id)):
        fallen = v.SlotFellOut(slot.id, status, reason, now_ms, slot.intent)
        return decided([fallen], make_moved(lane, slot, height))
    if slot.intent is None:
        again = ended(slot, reason)
        return decided([attempt_ended(again)], [make(lane, again, height=height)])
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
    end = v.SlotSettled(slot.id, status, now_ms, slot.sequence, reason, slot.intent, stays=filler)
    return decided([end], [make(lane, filler, height=height)])


def attempt_ended(again: Slot) -> v.AttemptEnded:
    """The end of the last bytes of a slot, as it stands after it."""
    gone = again.past[-1]
    return v.AttemptEnded(*about(again), gone.hash, gone.proven)


def make_moved(lane: SequenceLane, fallen: Slot, height: int | None) -> list[v.MakeAttempt]:
    """The bytes of those above one that falls out, each for the number below its own."""
    return [
        make(lane, moved(slot, slot.sequence - 1), height=height)
        for slot in lane.in_order()
        if slot.sequence > fallen.sequence
    ]


# What nodes say.


class OfferRead(Struct, frozen=True):
    """How a node stands after its answers, and the first that it did not take."""

    node: Node
    slot: Slot | None = None
    answer: OfferAnswer | None = None
    is_first: bool = False
    """It never had these bytes before."""
    taken: tuple[Slot, ...] = ()


def judge_offer(lane: SequenceLane, event: v.OfferReturned) -> Decision:
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
        return decided((*unsure_now, *sent.records), sent.effects)
    read = read_answers(lane, node, event)
    records = taken_records(lane, read)
    effects: list[v.Effect] = []
    nodes = {**lane.nodes, node.name: read.node}
    changed: dict[int, SignedAttempt | None] = {}
    if read.slot is not None and read.answer is not None:
        state = waiting(lane, read.node, read.slot, read.answer, event.now_ms)
        nodes[node.name] = state
        end = judge_refusal(lane, read, nodes, event.now_ms)
        records += [*unsure(lane, event, read), *end.records]
        effects += end.effects
        if is_fall_out(end.records):
            # Every node stands below it now; what is made for the numbers goes to them then.
            return decided((v.NodeChanged(state), *records), effects)
        if has_ended(end.records):
            low = read.slot.sequence
            changed[low] = None
            nodes = wound_back(lane, nodes, low, state.height, [read.slot.id])
    sent = offers(lane, nodes, changed)
    return decided((*records, *sent.records), (*effects, *sent.effects))


def has_ended(records: Iterable[v.Record]) -> bool:
    """Whether the bytes at a number are to be others."""
    return any(
        isinstance(record, v.AttemptEnded)
        or (isinstance(record, v.SlotSettled) and record.stays is not None)
        for record in records
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


def read_answers(lane: SequenceLane, node: Node, event: v.OfferReturned) -> OfferRead:
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
            # What came after it was not offered.
            return OfferRead(
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
        return OfferRead(stopped, slot, answer, is_first, tuple(taken))
    done = replace(node, next=place, top=max(top, node.until), until=0, failures=0)
    if done.next >= done.top:
        done = recovered(done)
    return OfferRead(done, taken=tuple(taken))


def unsure(
    lane: SequenceLane, event: v.OfferReturned, read: OfferRead | None = None
) -> list[v.RefusalDoubted]:
    """What a node had refused as often as it was offered it, and may have taken now. A refusal that
    is judged for itself is left aside."""
    found: list[v.RefusalDoubted] = []
    for hash_, answer in zip(event.hashes, event.answers, strict=True):
        slot = lane.slots.get(lane.hashes.get(hash_, 0))
        attempt = None if slot is None else slot.attempt
        if slot is None or attempt is None or attempt.hash != hash_:
            continue
        is_judged = read is not None and (
            answer.kind.outcome() is Outcome.ACCEPTED
            or (read.slot is slot and answer.kind is not OfferKind.UNREACHABLE)
        )
        is_kept = not event.again and answer.kind in (*PROVEN, OfferKind.UNREACHABLE)
        if event.node in attempt.refused and not (is_judged or is_kept):
            found.append(v.RefusalDoubted(*about(slot), *not_refused(attempt, event.node)))
    return found


def without(names: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple([one for one in names if one != name])


def not_refused(attempt: Attempt, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who refused it, and who called it wrong, but for a node that may have it now."""
    return without(attempt.refused, name), without(attempt.final, name)


def taken_records(lane: SequenceLane, read: OfferRead) -> list[v.Record]:
    """What some node has for the first time."""
    name = read.node.name
    records: list[v.Record] = []
    fresh: list[tuple[IntentId | None, bytes]] = []
    for slot in read.taken:
        attempt = slot.attempt
        assert attempt is not None
        is_early = attempt.number == 1
        if is_early and slot.sequence >= lane.head.taken_next:
            fresh.append((slot.intent, attempt.hash))
        if name in attempt.refused or not (is_early or attempt.taken):
            refused, final = not_refused(attempt, name)
            taken = v.AttemptTaken(*about(slot), refused, final, attempt.number, attempt.hash)
            records.append(taken)
    if fresh:
        intents, hashes = zip(*fresh, strict=True)
        records.append(v.Submitted(read.taken[-1].sequence + 1, name, intents, hashes))
    return records


def waiting(lane: SequenceLane, node: Node, slot: Slot, answer: OfferAnswer, now_ms: int) -> Node:
    """A node that did not take something: it is asked again after a block, or after a while."""
    word = answer_text(answer)
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


def answer_text(answer: OfferAnswer) -> str:
    log = f": {answer.log}" if answer.log else ""
    return clip(f"{answer.kind.value}{log}", LOG_BYTES_MAX)


def judge_refusal(
    lane: SequenceLane, read: OfferRead, nodes: Mapping[str, Node], now_ms: int
) -> Decision:
    """A number of which no node ever had anything is free; all else waits for the chain's word."""
    slot, answer = read.slot, read.answer
    assert slot is not None
    assert slot.attempt is not None
    assert answer is not None
    if answer.kind is OfferKind.UNREACHABLE:
        return NOTHING
    refused, final = not_refused(slot.attempt, answer.node)
    if read.is_first and answer.kind in PROVEN:
        refused = (*refused, answer.node)
        final = (*final, answer.node) if answer.kind in FINAL else final
    attempt = replace(
        slot.attempt,
        refused=refused,
        final=final,
        word=answer_text(answer),
        code=answer.code,
        codespace=clip(answer.codespace, LOG_BYTES_MAX),
    )
    beside = about(replace(slot, attempt=attempt))
    noted = v.AttemptRefused(*beside, refused, final, attempt.code, attempt.codespace)
    waits = NOTHING if attempt == slot.attempt else decided([noted])
    is_used = slot.sequence < lane.head.committed
    is_had = any(may_have(node, slot.sequence, refused) for node in nodes.values())
    if answer.kind not in ENDED or is_used or is_had or not is_turned_away_by_most(lane, attempt):
        # No matter who used its number, the chain is asked about it.
        return waits
    is_proven = is_refused(lane, attempt)
    is_mended = answer.kind in REMADE and len(slot.past) + 1 < lane.settings.attempts_max
    if slot.intent is not None and is_mended:
        # At the same number: whichever of its bytes lands, no other can.
        again = ended(slot, answer_text(answer), proven=is_proven)
        return decided([attempt_ended(again)], [make(lane, again)])
    if not is_proven or slot.is_unproven():
        return waits
    status = Status.EXPIRED if answer.kind is OfferKind.TIMED_OUT else Status.REFUSED
    return give_up(lane, slot, status.value, answer_text(answer), now_ms, nodes=nodes.values())


def is_turned_away_by_most(lane: SequenceLane, attempt: Attempt) -> bool:
    """Whether a majority of the nodes refused it as often as they were offered it."""
    return sum([name in attempt.refused for name in lane.settings.nodes]) >= need_of(lane)


def is_turned_away(lane: SequenceLane, attempt: Attempt) -> bool:
    """And for a reason that other bytes of the same intent would meet too."""
    word = attempt.word.partition(":")[0]
    return word in TURNED_AWAY and is_turned_away_by_most(lane, attempt)
