"""RIPEMD-160, by which Cosmos accounts are named. OpenSSL may be built without it, so it is here.

Written from the reference description (Dobbertin, Bosselaers, Preneel, 1996); it runs once a key.
"""

import struct

LEFT = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8),
    (3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12),
    (1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2),
    (4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13),
)
RIGHT = (
    (5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12),
    (6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2),
    (15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13),
    (8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14),
    (12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11),
)
LEFT_TURNS = (
    (11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8),
    (7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12),
    (11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5),
    (11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12),
    (9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6),
)
RIGHT_TURNS = (
    (8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6),
    (9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11),
    (9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5),
    (15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8),
    (8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11),
)
LEFT_ADDED = (0x00000000, 0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xA953FD4E)
RIGHT_ADDED = (0x50A28BE6, 0x5C4DD124, 0x6D703EF3, 0x7A6D76E9, 0x00000000)
START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
MASK = 0xFFFFFFFF


def ripemd160(data: bytes) -> bytes:
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + struct.pack("<Q", 8 * len(data))
    state = START
    for begin in range(0, len(padded), 64):
        state = _folded(state, struct.unpack("<16I", padded[begin : begin + 64]))
    return struct.pack("<5I", *state)


State = tuple[int, int, int, int, int]


def _folded(state: State, block: tuple[int, ...]) -> State:
    left = right = state
    for turn in range(5):
        for step in range(16):
            word = block[LEFT[turn][step]] + LEFT_ADDED[turn]
            left = _stepped(left, turn, word, LEFT_TURNS[turn][step])
            word = block[RIGHT[turn][step]] + RIGHT_ADDED[turn]
            right = _stepped(right, 4 - turn, word, RIGHT_TURNS[turn][step])
    a, b, c, d, e = state
    return (
        b + left[2] + right[3] & MASK,
        c + left[3] + right[4] & MASK,
        d + left[4] + right[0] & MASK,
        e + left[0] + right[1] & MASK,
        a + left[1] + right[2] & MASK,
    )


def _stepped(state: State, function: int, word: int, turn: int) -> State:
    a, b, c, d, e = state
    mixed = a + _mixed(function, b, c, d) + word & MASK
    return e, _turned(mixed, turn) + e & MASK, b, _turned(c, 10), d


def _mixed(function: int, x: int, y: int, z: int) -> int:
    if function == 0:
        return x ^ y ^ z
    if function == 1:
        return x & y | ~x & MASK & z
    if function == 2:
        return (x | ~y & MASK) ^ z
    if function == 3:
        return x & z | y & ~z & MASK
    return x ^ (y | ~z & MASK)


def _turned(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) & MASK
