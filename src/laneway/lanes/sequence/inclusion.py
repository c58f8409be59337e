"""What nodes show of bytes in a block, and what is kept of it.

That they are there, and with which end, is believed of a majority. Of the rest of a node's answer
nothing is kept that another node does not confirm, or that has no bound.
"""

from collections.abc import Sequence

from laneway.core.cosmos import TxSeen
from laneway.core.majority import agreed
from laneway.core.outcome import Status
from laneway.core.reason import clip
from laneway.lanes.sequence.belief import Belief
from laneway.lanes.sequence.lane import SequenceLane, need_of, replace
from laneway.lanes.sequence.limits import LOG_BYTES_MAX, SHOWN_HASH_BYTES
from laneway.lanes.sequence.rows import InclusionVote, Slot
from laneway.lanes.sequence.values import SlotCorrected, SlotSettled


def is_last(slot: Slot, seen: TxSeen) -> bool:
    """Whether these are the only bytes of it that may have used its number."""
    return slot.attempt is not None and slot.attempt.hash == seen.hash and not slot.is_unproven()


def is_unused(slot: Slot, seen: TxSeen) -> bool:
    """Whether some node's account showed that this failure did not use the slot's number."""
    wanted = (seen.hash[:SHOWN_HASH_BYTES], seen.height, seen.code)
    return any(one.unused and (one.hash, one.height, one.code) == wanted for one in slot.shown)


def voters(belief: Belief, slot: Slot, seen: TxSeen) -> list[InclusionVote]:
    """What the configured nodes say that show these bytes in the same block with the same end."""
    wanted = (seen.hash[:SHOWN_HASH_BYTES], seen.height, seen.code)
    names = [node.name for node in belief.nodes]
    shown = [one for one in slot.shown if one.node in names and not one.unused]
    return [one for one in shown if (one.hash, one.height, one.code) == wanted]


def trusted(
    lane: SequenceLane, seen: TxSeen, alike: Sequence[InclusionVote] | Sequence[TxSeen]
) -> TxSeen:
    """One node's answer, as it is kept: with the gas that a majority names, 0 if there is none,
    with the lane's own account as its signer, and with messages that are cut."""
    figures = [(one.gas_wanted, one.gas_used) for one in alike]
    wanted, used = agreed(figures, need_of(lane)) or (0, 0)
    own = lane.id.rpartition(":")[2]
    return replace(
        seen,
        codespace=clip(seen.codespace, LOG_BYTES_MAX),
        log=clip(seen.log),
        gas_wanted=wanted,
        gas_used=used,
        signers=(own,) if own in seen.signers else (),
    )


def committed(slot: Slot, kept: TxSeen, now_ms: int) -> SlotSettled | SlotCorrected:
    """The end of a slot whose bytes are in a block."""
    if slot.told:
        return SlotCorrected(slot.id, slot.intent, kept)
    status = Status.CONFIRMED if kept.code == 0 else Status.REVERTED
    reason = "" if kept.code == 0 else clip(f"{kept.codespace} code {kept.code}: {kept.log}")
    return SlotSettled(slot.id, status.value, now_ms, slot.sequence, reason, slot.intent, seen=kept)
