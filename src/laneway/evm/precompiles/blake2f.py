"""The contract at address 9: the compression function of BLAKE2b with any number of rounds.

The package blake2b-py does it (EIP-152: a unit of gas for each round, which it does in 21 ns).
Without it the function below gives the same words, three hundred times as slowly.
"""

from struct import pack, unpack

INPUT_BYTES = 213
MASK = (1 << 64) - 1
START = (
    *(0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1),
    *(0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179),
)
"""The square roots' first bits that SHA-512 starts with (RFC 7693 §2.6)."""
ORDERS = (
    *((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),),
    *((14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),),
    *((11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),),
    *((7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),),
    *((9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),),
    *((2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),),
    *((12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),),
    *((13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),),
    *((6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),),
    *((10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),),
)
"""Which words of the block a round mixes in, one row for each of ten rounds (RFC 7693 §2.7)."""
LINES = (
    *((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)),
    *((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)),
)
"""The words that are mixed with each other: the columns of a square, then its diagonals."""


def gas(data: bytes) -> int:
    return int.from_bytes(data[:4], "big") if len(data) == INPUT_BYTES else 0


def run(data: bytes) -> bytes | None:
    if len(data) != INPUT_BYTES or data[-1] > 1:
        return None
    try:
        from blake2b import decode_and_compress
    except ImportError:
        return compressed(data)
    return bytes(decode_and_compress(data))


def compressed(data: bytes) -> bytes:
    (rounds,) = unpack(">I", data[:4])
    state, block = unpack("<8Q", data[4:68]), unpack("<16Q", data[68:196])
    low, high = unpack("<2Q", data[196:212])
    words = [*state, *START]
    words[12] ^= low
    words[13] ^= high
    words[14] ^= MASK * data[212]
    for place in range(rounds):
        order = ORDERS[place % 10]
        for index, line in enumerate(LINES):
            mix(words, line, block[order[2 * index]], block[order[2 * index + 1]])
    return pack("<8Q", *(state[at] ^ words[at] ^ words[at + 8] for at in range(8)))


def mix(words: list[int], line: tuple[int, int, int, int], first: int, second: int) -> None:
    at_a, at_b, at_c, at_d = line
    a, b, c, d = words[at_a], words[at_b], words[at_c], words[at_d]
    a = a + b + first & MASK
    d ^= a
    d = d >> 32 | d << 32 & MASK
    c = c + d & MASK
    b ^= c
    b = b >> 24 | b << 40 & MASK
    a = a + b + second & MASK
    d ^= a
    d = d >> 16 | d << 48 & MASK
    c = c + d & MASK
    b ^= c
    words[at_a], words[at_b], words[at_c] = a, b >> 63 | b << 1 & MASK, c
    words[at_d] = d
