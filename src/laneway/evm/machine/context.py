"""What all frames of a transaction share: its block, its sender, its price, and the state."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from laneway.evm.machine.code import CodeCache
from laneway.evm.machine.instructions import OpcodeTable
from laneway.evm.precompiles.table import Precompile
from laneway.evm.state.journal import StateJournal


class BlockContext(Struct, frozen=True, kw_only=True):
    """What opcodes read of the block that a transaction is in."""

    number: int
    timestamp_s: int
    coinbase: bytes
    gas_limit: int
    base_fee_wei: int
    prevrandao: bytes
    blob_base_fee_wei: int
    chain_id: int
    block_hash: Callable[[int], bytes]
    """Of one of the 256 blocks before; zeros if it is not known."""


class FrameTracer(Protocol):
    """What runs frames in place of the usual loop, and watches them."""

    def execute(self, frame: Any) -> None:
        """As `machine.calls.execute`. A frame that has halted before its first step is seen too."""
        ...


class TransactionContext(Struct, frozen=True, kw_only=True):
    journal: StateJournal
    block: BlockContext
    origin: bytes
    gas_price_wei: int
    blob_hashes: tuple[bytes, ...]
    precompiles: Mapping[bytes, Precompile]
    opcodes: OpcodeTable
    codes: CodeCache
    compiled_after: int
    """Code that has as much credit runs as compiled functions; with 0 all is, at once."""
    has_delegations: bool
    """Whether an account can run another one's code (EIP-7702)."""
    tracer: FrameTracer | None = None
