"""RIPEMD-160, for machines whose OpenSSL leaves it out."""

from collections.abc import Callable
from struct import pack, unpack

MASK = (1 << 32) - 1
START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
LEFT_CONSTANTS = (0, 0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xA953FD4E)
RIGHT_CONSTANTS = (0x50A28BE6, 0x5C4DD124, 0x6D703EF3, 0x7A6D76E9, 0)
LEFT_WORDS = (
    *((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),),
    *((7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8),),
    *((3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12),),
    *((1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2),),
    *((4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13),),
)
RIGHT_WORDS = (
    *((5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12),),
    *((6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2),),
    *((15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13),),
    *((8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14),),
    *((12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11),),
)
LEFT_TURNS = (
    *((11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8),),
    *((7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12),),
    *((11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5),),
    *((11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12),),
    *((9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6),),
)
RIGHT_TURNS = (
    *((8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6),),
    *((9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11),),
    *((9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5),),
    *((15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8),),
    *((8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11),),
)
MIXES: tuple[Callable[[int, int, int], int], ...] = (
    lambda x, y, z: x ^ y ^ z,
    lambda x, y, z: x & y | ~x & z,
    lambda x, y, z: (x | ~y) ^ z,
    lambda x, y, z: x & z | y & ~z,
    lambda x, y, z: x ^ (y | ~z),
)
LEFT = tuple(zip(MIXES, LEFT_CONSTANTS, LEFT_WORDS, LEFT_TURNS, strict=True))
RIGHT = tuple(zip(MIXES[::-1], RIGHT_CONSTANTS, RIGHT_WORDS, RIGHT_TURNS, strict=True))
Rounds = tuple[tuple[Callable[[int, int, int], int], int, tuple[int, ...], tuple[int, ...]], ...]
State = tuple[int, int, int, int, int]


def ripemd160(data: bytes) -> bytes:
    state = START
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + pack("<Q", 8 * len(data))
    for at in range(0, len(padded), 64):
        block = unpack("<16I", padded[at : at + 64])
        a, b, c, d, e = mixed(state, block, LEFT)
        f, g, h, i, j = mixed(state, block, RIGHT)
        k, l, m, n, o = state  # noqa: E741
        sums = l + c + i, m + d + j, n + e + f, o + a + g, k + b + h
        k, l, m, n, o = (one & MASK for one in sums)  # noqa: E741
        state = (k, l, m, n, o)
    return pack("<5I", *state)


def mixed(state: State, block: tuple[int, ...], rounds: Rounds) -> State:
    a, b, c, d, e = state
    for mix, constant, words, turns in rounds:
        for word, turn in zip(words, turns, strict=True):
            total = a + mix(b, c, d) + block[word] + constant & MASK
            turned = (total << turn | total >> 32 - turn) + e & MASK
            a, b, c, d, e = e, turned, b, (c << 10 | c >> 22) & MASK, d
    return a, b, c, d, e
