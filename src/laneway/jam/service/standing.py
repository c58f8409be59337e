"""Where a package stands with its service, read from the service's storage alone."""

from enum import Enum

import msgspec

from laneway.jam.service.commitment import number_of, refusal_of, rivals_of
from laneway.jam.service.interface import StorageView
from laneway.jam.service.limits import HELD_SLOTS_MAX
from laneway.jam.service.values import Held, Reason


class Stand(Enum):
    APPLIED = "applied"
    HELD = "held"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """It has not accumulated on this fork, or its refusal is no longer remembered."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    stand: Stand
    number: int = 0
    reason: Reason | None = None
    """Why it was refused."""
    slot_max: int | None = None
    """The last slot in which the parent of a held block is in time."""


UNKNOWN = Standing(stand=Stand.UNKNOWN)


def standing_of(view: StorageView, package_hash: bytes, *, number: int, slot: int) -> Standing:
    """What came of a package whose block claims this number, as seen after this slot's block.

    A package that brought a block is applied, whatever else was refused of it."""
    applied = number_of(view, package_hash)
    if applied is not None:
        return Standing(stand=Stand.APPLIED, number=applied)
    for held in rivals_of(view, number):
        if held.package_hash == package_hash:
            return _of_held(held, number, slot)
    refusal = refusal_of(view, package_hash)
    if refusal is None:
        return UNKNOWN
    return Standing(stand=Stand.REFUSED, number=refusal.number, reason=refusal.reason)


def slot_max_of(held: Held) -> int:
    """The last slot in which a held block can be applied."""
    return held.slot + HELD_SLOTS_MAX


def _of_held(held: Held, number: int, slot: int) -> Standing:
    """The record of an expired block stays until its number is touched; it is dead all the same."""
    if slot >= slot_max_of(held):
        return Standing(stand=Stand.REFUSED, number=number, reason=Reason.EXPIRED)
    return Standing(stand=Stand.HELD, number=number, slot_max=slot_max_of(held))
