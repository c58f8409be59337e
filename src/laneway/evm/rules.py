"""What a fork fixes for blocks: its opcodes, its precompiles, and how many blobs there are.

Blob schedules change between forks too (EIP-7892), so rules are a fork and a schedule.
"""

from collections.abc import Mapping

from msgspec import Struct

from laneway.evm.fork import Fork
from laneway.evm.limits import BLOBS_CANCUN_MAX, BLOBS_PRAGUE_MAX
from laneway.evm.machine.instructions import OpcodeTable
from laneway.evm.opcodes.table import opcode_table
from laneway.evm.precompiles.table import Precompile, precompiles


class BlobSchedule(Struct, frozen=True):
    """How many blobs a block should have, may have, and how fast their price follows."""

    target: int
    most: int
    update_fraction: int


CANCUN_BLOBS = BlobSchedule(3, BLOBS_CANCUN_MAX, 3_338_477)
"""EIP-4844."""
PRAGUE_BLOBS = BlobSchedule(6, BLOBS_PRAGUE_MAX, 5_007_716)
"""EIP-7691."""
BPO1_BLOBS = BlobSchedule(10, 15, 8_346_193)
BPO2_BLOBS = BlobSchedule(14, 21, 11_684_671)
"""EIP-7892 as mainnet scheduled it."""


class ForkRules(Struct, frozen=True):
    fork: Fork
    blobs: BlobSchedule
    opcodes: OpcodeTable
    precompiles: Mapping[bytes, Precompile]


def rules_of(fork: Fork, blobs: BlobSchedule | None = None) -> ForkRules:
    """The rules of Cancun, Prague or Osaka; ValueError for an older fork."""
    if fork < Fork.CANCUN:
        raise ValueError(f"{fork.name.capitalize()} cannot be executed; the first fork is Cancun")
    usual = CANCUN_BLOBS if fork == Fork.CANCUN else PRAGUE_BLOBS
    return ForkRules(fork, blobs or usual, opcode_table(fork), precompiles(fork))
