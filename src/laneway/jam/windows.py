"""How long a package can still be reported, and a core is taken: windows in blocks and in slots.

An anchor ages by the blocks that follow it and not by time: skipped slots do not age it (facts
established by running a state transition, and Gray Paper 0.7.2, sections 11.2 to 11.4). Numbers of
blocks are heights on one fork: a block of another fork has no age here, and who asks must know.
"""

from laneway.jam.spec import AVAILABILITY_TIMEOUT_SLOTS, RECENT_BLOCK_COUNT, ChainSpec


def remaining_blocks(anchor: int, head: int) -> int:
    """How many blocks after the head may still hold the report; at none it is dead on this fork."""
    assert anchor <= head
    return max(anchor + RECENT_BLOCK_COUNT - head, 0)


def lookup_slots(lookup_slot: int, spec: ChainSpec) -> range:
    """The slots of blocks that may hold a report with this lookup anchor. Here time does count."""
    return range(lookup_slot, lookup_slot + spec.lookup_anchor_slots_max + 1)


def engaged_until_slot(reported_slot: int, available_slot: int | None = None) -> int:
    """The first slot at which a block may report on the core again.

    A block makes reports available, and drops those that waited too long, before it takes new
    ones: so a core is free in the very block that frees it."""
    timeout = reported_slot + AVAILABILITY_TIMEOUT_SLOTS
    return timeout if available_slot is None else min(available_slot, timeout)


def is_engaged(reported_slot: int, slot: int, available_slot: int | None = None) -> bool:
    """Whether a report of an earlier slot keeps the core from a report at this one."""
    return slot < engaged_until_slot(reported_slot, available_slot)
