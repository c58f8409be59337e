"""The roots that BEEFY signs: of a block's accumulation outputs, and of all blocks' together.

Keccak-256 throughout. What is signed is a hash; signatures are not judged here.
"""

from collections.abc import Sequence

from laneway.jam.hashing import keccak
from laneway.jam.mmr import Mmr, append, super_peak
from laneway.jam.state import ACCUMULATION_OUTPUT, AccumulationOutput
from laneway.jam.trees import co_path, well_balanced_root, well_balanced_root_from_co_path


def accumulate_root(outputs: Sequence[AccumulationOutput]) -> bytes:
    """Over what the services yielded in a block; all zeros when none did."""
    return well_balanced_root(_leaves(outputs), keccak)


def output_path(outputs: Sequence[AccumulationOutput], index: int) -> tuple[bytes, ...]:
    """From the accumulate root down to one of the outputs."""
    return co_path(_leaves(outputs), index, keccak)


def root_from_output_path(
    output: AccumulationOutput, path: Sequence[bytes], *, index: int, count: int
) -> bytes:
    """The accumulate root under which this path leads to the output; InvalidProof for a path that
    no block with `count` outputs has."""
    leaf = ACCUMULATION_OUTPUT.encode(output)
    return well_balanced_root_from_co_path(leaf, path, index=index, count=count, hashing=keccak)


def belt_with(belt: Mmr, root: bytes) -> Mmr:
    """The belt after a block with this accumulate root."""
    return append(belt, root, keccak)


def beefy_root(belt: Mmr) -> bytes:
    """What a block's entry in the recent history holds, and validators sign."""
    return super_peak(belt, keccak)


def _leaves(outputs: Sequence[AccumulationOutput]) -> list[bytes]:
    return [ACCUMULATION_OUTPUT.encode(output) for output in outputs]
