"""What stands in the leaves of an account: basic data, and code in chunks (EIP-7864)."""

from typing import Final

from msgspec import Struct

from laneway.ubt.errors import BalanceTooBig, CodeTooBig, NonceUnfit
from laneway.ubt.limits import BALANCE_WEI_MAX, CODE_SIZE_MAX, NONCE_MAX

CHUNK_BYTES: Final = 31
PUSH1: Final = 0x60
PUSH32: Final = 0x7F


class BasicData(Struct, frozen=True, gc=False):
    nonce: int = 0
    balance_wei: int = 0
    code_size: int = 0


def encode_basic_data(address: bytes, data: BasicData) -> bytes:
    """The leaf: version, four reserved bytes, code size, nonce and balance, all big endian."""
    if not 0 <= data.balance_wei <= BALANCE_WEI_MAX:
        raise BalanceTooBig(address=address.hex(), balance_wei=data.balance_wei)
    if not 0 <= data.nonce <= NONCE_MAX:
        raise NonceUnfit(address=address.hex(), nonce=data.nonce)
    if not 0 <= data.code_size <= CODE_SIZE_MAX:
        raise CodeTooBig(address=address.hex(), given=data.code_size)
    # The four reserved bytes are free, the version is 0, and code size has the next three.
    return (data.code_size << 192 | data.nonce << 128 | data.balance_wei).to_bytes(32, "big")


def decode_basic_data(leaf: bytes) -> BasicData:
    """Version and reserved bytes are not looked at."""
    return BasicData(
        int.from_bytes(leaf[8:16], "big"),
        int.from_bytes(leaf[16:], "big"),
        int.from_bytes(leaf[5:8], "big"),
    )


def chunk_count(code_size: int) -> int:
    return -(-code_size // CHUNK_BYTES)


def chunkify(code: bytes) -> list[bytes]:
    """Chunks of 31 bytes, each after the number of its first bytes that are data of a PUSH.

    Data of a PUSH32 can begin in one chunk and end in the next but one.
    """
    chunks = []
    executed = 0
    """The first byte from here on that is an opcode."""
    size = len(code)
    for begin in range(0, size, CHUNK_BYTES):
        data = min(max(executed - begin, 0), CHUNK_BYTES)
        chunks.append(bytes((data,)) + code[begin : begin + CHUNK_BYTES].ljust(CHUNK_BYTES, b"\0"))
        end = min(begin + CHUNK_BYTES, size)
        while executed < end:
            opcode = code[executed]
            executed += opcode - PUSH1 + 2 if PUSH1 <= opcode <= PUSH32 else 1
    return chunks
