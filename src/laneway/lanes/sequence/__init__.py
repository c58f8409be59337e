"""Sequence lanes: one Cosmos account each, many sequences in flight, in strict order."""

from laneway.lanes.sequence.machine import sequence_kind
from laneway.lanes.sequence.settings import SequenceSettings

__all__ = ["SequenceSettings", "sequence_kind"]
