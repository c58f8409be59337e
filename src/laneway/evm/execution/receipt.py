"""What became of a transaction in its block."""

from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from laneway.evm import rlp
from laneway.evm.keccak import keccak
from laneway.evm.limits import BLOOM_ENTRIES_KEPT
from laneway.evm.opcodes.logs import EvmLog

BLOOM_BYTES = 256
BLOOM_BITS_MASK = 2_047
EMPTY_BLOOM = bytes(BLOOM_BYTES)
BLOOM_PREFIX, ADDRESS_PREFIX, TOPIC_PREFIX = b"\xb9\x01\x00", b"\x94", b"\xa0"
"""RLP's, of 256, 20 and 32 bytes."""


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
        body = rlp.encode_list(
            (b"\1" if self.succeeded else b"\x80")
            + rlp.encode_int(cumulative_gas)
            + BLOOM_PREFIX
            + self.bloom()
            + rlp.encode_list(b"".join([encoded_log(log) for log in self.logs]))
        )
        return bytes([self.type]) + body if self.type else body


def encoded_log(log: EvmLog) -> bytes:
    topics = rlp.encode_list(b"".join([TOPIC_PREFIX + topic for topic in log.topics]))
    return rlp.encode_list(ADDRESS_PREFIX + log.address + topics + rlp.encode_bytes(log.data))


def bloom(logs: Iterable[EvmLog]) -> bytes:
    """The filter of 2,048 bits that every address and topic sets three bits of."""
    bits = 0
    for log in logs:
        bits |= bloom_bits(log.address)
        for topic in log.topics:
            bits |= bloom_bits(topic)
    return bits.to_bytes(BLOOM_BYTES, "big") if bits else EMPTY_BLOOM


@lru_cache(BLOOM_ENTRIES_KEPT)
def bloom_bits(entry: bytes) -> int:
    """Few addresses and topics stand in most logs, so what was asked last is kept."""
    digest, bits = keccak(entry), 0
    for at in (0, 2, 4):
        bits |= 1 << (int.from_bytes(digest[at : at + 2], "big") & BLOOM_BITS_MASK)
    return bits
