"""When in a timeslot something may be done, by the chain's slots on this machine's clock."""

from laneway.core.jam import SlotClock


def is_open(clock: SlotClock, now_ms: int, from_ms: int, until_ms: int) -> bool:
    """Whether the next timeslot is so far ahead."""
    return until_ms <= clock.until_next_ms(now_ms) <= from_ms


def opens_ms(clock: SlotClock, after_ms: int, from_ms: int) -> int:
    """When the window opens next, behind this moment."""
    begin = after_ms + clock.until_next_ms(after_ms) - from_ms
    while begin <= after_ms:
        begin += clock.slot_ms
    return begin


def anchor_offset(policy: str, ahead: int, cores: int, recent_blocks: int) -> int:
    """How many blocks below the best one a package is anchored, with so many bundles ahead of it.

    Seed 000 gives later bundles fresher anchors. Its formula and its table differ from the sixth
    bundle on, with two cores; both are kept."""
    pairs = ahead // cores
    match policy:
        case "formula":
            return max(recent_blocks - 2 - pairs, 1)
        case "table":
            return max(recent_blocks - 2 - pairs, 1) if pairs < 3 else 1
        case _:
            return 1
