"""What became of a transaction in its block."""

from collections.abc import Iterable

from msgspec import Struct

from laneway.evm import rlp
from laneway.evm.keccak import keccak
from laneway.evm.opcodes.logs import EvmLog

BLOOM_BYTES = 256
BLOOM_BITS_MASK = 2_047


class EvmReceipt(Struct, frozen=True, kw_only=True):
    type: int
    succeeded: bool
    gas_used: int
    effective_price_wei: int
    logs: tuple[EvmLog, ...] = ()
    contract: bytes | None = None
    """The address that a creation used, whether it succeeded or not."""
    output: bytes = b""
    """What the outermost call returned, or its reason to revert."""
    halt: str = ""
    """Why it failed without reverting; empty if it did not."""
    blob_gas: int = 0
    refund: int = 0
    """What was given back of the gas, for storage that was cleared."""

    def bloom(self) -> bytes:
        return bloom(self.logs)

    def encode(self, cumulative_gas: int) -> bytes:
        """As it stands in the receipt trie of its block."""
        logs = [(log.address, list(log.topics), log.data) for log in self.logs]
        body = rlp.encode((int(self.succeeded), cumulative_gas, self.bloom(), logs))
        return bytes([self.type]) + body if self.type else body


def bloom(logs: Iterable[EvmLog]) -> bytes:
    """The filter of 2,048 bits that every address and topic sets three bits of."""
    bits = 0
    for log in logs:
        for entry in (log.address, *log.topics):
            digest = keccak(entry)
            for at in (0, 2, 4):
                bits |= 1 << (int.from_bytes(digest[at : at + 2], "big") & BLOOM_BITS_MASK)
    return bits.to_bytes(BLOOM_BYTES, "big")
