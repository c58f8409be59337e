"""The service's line of blocks, which others may move: another deployment, a stranger, or this lane
itself in a time that its store was restored from before.

The line at a final block of the chain is the truth. A block of this lane that is in it had its
effect, whatever package brought it. One that is not, and is not above it either, never will: its
number is another's, or what it stands on is. So it is dropped at once, and its transactions go back
to the pool. The builder reads the blocks of others before it builds the next one, and finds those
transactions that they executed.
"""

from collections.abc import Mapping

from laneway.core.jam import LineAsked, LineBlock, LineSeen
from laneway.lanes.bundle import records as r
from laneway.lanes.bundle.blocks import RESUME, halt
from laneway.lanes.bundle.draft import DecisionDraft
from laneway.lanes.bundle.ends import let_go
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import LINE_NUMBERS_MAX
from laneway.lanes.bundle.rows import BlockState, LinePlace, seen_final
from laneway.lanes.bundle.standing import status_of
from laneway.lanes.bundle.tells import brought

ANEW = (
    "the database saw block {number} final, and its chain has another one: it is another chain, or "
    f"began anew; name nodes of its chain, or another database, and {RESUME}"
)
OTHERS = "the service's line was moved by others: block {number} is final, and not from here"


def asked(lane: BundleLane) -> LineAsked | None:
    """What a look reads of it; None: the service keeps no records."""
    if not lane.settings.keeps_records:
        return None
    tip = seen_final(lane.head)
    known = {tip.number: tip.block} if tip.block else {}
    for number in sorted(lane.numbers)[:LINE_NUMBERS_MAX]:
        known.setdefault(number, lane.slots[lane.numbers[number]].block)
    return LineAsked(lane.settings.service, tuple(known), tuple(known.values()), tip.number)


def judge_line(draft: DecisionDraft, line: LineSeen | None) -> None:
    """Whether others moved the line. What it was not asked for is judged after the next look."""
    lane = draft.lane
    if line is None or not lane.settings.keeps_records or is_before_final(lane, line):
        return
    if is_too_far(lane, line):
        move(draft, line, lane.head.tip.number)
        return
    known = {one.number: one for one in line.blocks}
    if is_anew(lane, known):
        halt(draft, ANEW.format(number=lane.head.tip.number))
        return
    covered = lane.head.tip.number
    for slot in list(lane.in_order()):
        found = known.get(slot.number)
        if slot.number > line.number or (found is not None and found.block != slot.block):
            break
        if found is None:
            return
        recognise(draft, slot.id, found, line)
        covered = max(covered, slot.number)
    if covered < line.number:
        move(draft, line, covered)


def is_anew(lane: BundleLane, line: Mapping[int, LineBlock]) -> bool:
    """Whether the line has another block in the place of the newest that the lane saw final."""
    tip = seen_final(lane.head)
    found = line.get(tip.number)
    return bool(tip.block) and found is not None and found.block != tip.block


def is_before_final(lane: BundleLane, line: LineSeen) -> bool:
    """Whether it was read at an older block than the newest that is known to be final: nodes differ
    in what they call final, and the line only grows."""
    finalised = lane.head.finalised
    return finalised is not None and line.at.slot < finalised.slot


def is_too_far(lane: BundleLane, line: LineSeen) -> bool:
    """Whether the lane takes the line for longer than it is, on no more than a node's word: no
    block was built on that."""
    is_taken_on_trust = not lane.head.tip.block and not lane.payloads
    return is_taken_on_trust and line.number < lane.head.tip.number


def recognise(draft: DecisionDraft, slot: int, found: LineBlock, line: LineSeen) -> None:
    """A block of this lane is in the final line. Mostly its versions say so too."""
    lane, known = draft.lane, draft.lane.slots[slot]
    winner = lane.version(slot, known.winner)
    is_final = status_of(lane, known) == BlockState.FINALISED
    if not is_final or brought(known, winner) != found.package_hash:
        draft.is_wide = True
        draft.change(r.BlockOnLine(slot, LinePlace(found.package_hash, line.at)))


def move(draft: DecisionDraft, line: LineSeen, covered: int) -> None:
    """The lane goes on after the line. What it has above `covered` can have no effect."""
    gone = [slot for slot in draft.lane.in_order() if slot.number > covered or slot.building]
    draft.is_wide = True
    let_go(draft, gone, OTHERS.format(number=line.number))
    foreign = max(0, line.number - covered)
    draft.say(r.LineMoved(line.number, foreign, draft.now_ms, line.block))
