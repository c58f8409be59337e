"""The assurances of a block (Gray Paper 0.7.2, §11.2): which reports are available, which are late.

Nothing here changes its arguments: the cores' reports go in, and those that are left come out.
Disputes come before this and have already taken their reports away.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final

import msgspec

from laneway.jam.ed25519 import verifies
from laneway.jam.extrinsic import AvailAssurance
from laneway.jam.hashing import blake2b
from laneway.jam.report import WorkReport
from laneway.jam.spec import ChainSpec
from laneway.jam.windows import is_engaged

AVAILABLE_CONTEXT: Final = b"jam_available"
"""X_A: what an assurance's signature begins with."""


class AssuranceFault(Enum):
    """The rule that an assurance breaks; the values are the names of the public test vectors."""

    BAD_ATTESTATION_PARENT = "bad_attestation_parent"
    BAD_VALIDATOR_INDEX = "bad_validator_index"
    NOT_SORTED_OR_UNIQUE_ASSURERS = "not_sorted_or_unique_assurers"
    CORE_NOT_ENGAGED = "core_not_engaged"
    BAD_SIGNATURE = "bad_signature"


class PendingReport(msgspec.Struct, frozen=True):
    """A report that occupies its core until it is available or too old."""

    report: WorkReport
    timeout: int
    """The slot in which it was reported; the vectors call it so because the time runs from it."""


class Assured(msgspec.Struct, frozen=True, kw_only=True):
    """What the assurances of a block come to."""

    available: tuple[WorkReport, ...]
    """In the order of their cores."""
    pending: tuple[PendingReport | None, ...]
    """What still occupies each core."""
    timed_out: tuple[WorkReport, ...]
    """Reports that left their core without becoming available."""


class AssurancesRefused(msgspec.Struct, frozen=True):
    """A block with these assurances is invalid."""

    fault: AssuranceFault
    place: int
    """Which of the assurances breaks the rule."""


def assurance_message(parent: bytes, bitfield: bytes) -> bytes:
    """What the assurer signs."""
    return AVAILABLE_CONTEXT + blake2b(parent + bitfield)


def judge_assurances(
    pending: tuple[PendingReport | None, ...],
    assurances: tuple[AvailAssurance, ...],
    *,
    keys: tuple[bytes, ...],
    slot: int,
    parent: bytes,
    spec: ChainSpec,
) -> Assured | AssurancesRefused:
    """Say which reports the assurances make available, or which rule one of them breaks.

    `pending` is what occupies each core, `keys` are the Ed25519 keys of the validators that are
    active before this block, and `parent` is the header that this block stands on."""
    engaged = sum(1 << core for core, report in enumerate(pending) if report is not None)
    before = -1
    for place, assurance in enumerate(assurances):
        fault = _fault(assurance, before=before, engaged=engaged, keys=keys, parent=parent)
        if fault is not None:
            return AssurancesRefused(fault, place)
        before = assurance.validator_index
    return _settled(pending, tally(assurances, spec), slot, spec)


def _fault(
    assurance: AvailAssurance, *, before: int, engaged: int, keys: tuple[bytes, ...], parent: bytes
) -> AssuranceFault | None:
    assurer = assurance.validator_index
    if assurance.anchor != parent:
        return AssuranceFault.BAD_ATTESTATION_PARENT
    if assurer >= len(keys):
        return AssuranceFault.BAD_VALIDATOR_INDEX
    if assurer <= before:
        return AssuranceFault.NOT_SORTED_OR_UNIQUE_ASSURERS
    if int.from_bytes(assurance.bitfield, "little") & ~engaged:
        # A bit after that of the last core is one of a core that nothing can occupy.
        return AssuranceFault.CORE_NOT_ENGAGED
    message = assurance_message(parent, assurance.bitfield)
    if not verifies(keys[assurer], assurance.signature, message):
        return AssuranceFault.BAD_SIGNATURE
    return None


def tally(assurances: Iterable[AvailAssurance], spec: ChainSpec) -> tuple[int, ...]:
    """How many assurances there are of each core."""
    # The numbers of all cores are added at once, as columns of bits: planes[k] holds for each core
    # the bit of weight 2^k of its number. A thousand assurances take as many additions.
    planes = [0] * spec.validator_count.bit_length()
    for assurance in assurances:
        carry = int.from_bytes(assurance.bitfield, "little")
        weight = 0
        while carry:
            planes[weight], carry = planes[weight] ^ carry, planes[weight] & carry
            weight += 1
    return tuple(
        sum((plane >> core & 1) << weight for weight, plane in enumerate(planes))
        for core in range(spec.core_count)
    )


def _settled(
    pending: tuple[PendingReport | None, ...], counts: tuple[int, ...], slot: int, spec: ChainSpec
) -> Assured:
    available: list[WorkReport] = []
    timed_out: list[WorkReport] = []
    left: list[PendingReport | None] = []
    for waiting, count in zip(pending, counts, strict=True):
        stays = None
        if waiting is None:
            pass
        elif count >= spec.supermajority:
            # Enough assurances count even in the slot in which the report would time out.
            available.append(waiting.report)
        elif is_engaged(waiting.timeout, slot):
            stays = waiting
        else:
            timed_out.append(waiting.report)
        left.append(stays)
    return Assured(available=tuple(available), pending=tuple(left), timed_out=tuple(timed_out))
