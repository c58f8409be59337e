"""0x20s: Keccak-256 of a range of memory."""

from functools import lru_cache

from sha3 import keccak_256

from laneway.evm.limits import MAPPING_KEYS_KEPT
from laneway.evm.machine.frame import CallFrame

WORD_GAS = 6


def keccak256(frame: CallFrame) -> None:
    stack = frame.stack
    at = stack.pop()
    size = stack[-1]
    frame.charge(WORD_GAS * ((size + 31) // 32))
    frame.extend(at, size)
    stack[-1] = int.from_bytes(keccak_256(frame.memory[at : at + size]).digest(), "big")


@lru_cache(MAPPING_KEYS_KEPT)
def mapping_key(entry: bytes) -> int:
    """Where an entry of a mapping is stored, by its key and the mapping's own place: transactions
    ask for the same few again and again."""
    return int.from_bytes(keccak_256(entry).digest(), "big")
