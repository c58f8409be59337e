"""The trie as the Yellow Paper writes it (appendix D): the whole of it is made anew each time.

Slow, short, and without a line of what is tested, but for RLP and the hash.
"""

from collections.abc import Mapping

from laneway.evm.keccak import keccak
from laneway.evm.rlp import Value, encode

Nibbles = tuple[int, ...]


def naive_root(pairs: Mapping[bytes, bytes]) -> bytes:
    kept = {nibbles(key): value for key, value in pairs.items() if value}
    return keccak(encode(structure(kept, 0)))


def nibbles(key: bytes) -> Nibbles:
    return tuple([nibble for byte in key for nibble in (byte >> 4, byte & 15)])


def compact(path: Nibbles, is_leaf: bool) -> bytes:
    flag = 2 * is_leaf + len(path) % 2
    padded = (flag, *path) if len(path) % 2 else (flag, 0, *path)
    return bytes([high << 4 | low for high, low in zip(padded[::2], padded[1::2], strict=True)])


def structure(pairs: Mapping[Nibbles, bytes], depth: int) -> Value:
    if not pairs:
        return b""
    paths = list(pairs)
    if len(paths) == 1:
        return [compact(paths[0][depth:], True), pairs[paths[0]]]
    fork = depth
    while len({path[: fork + 1] for path in paths}) == 1:
        fork += 1
    if fork > depth:
        return [compact(paths[0][depth:fork], False), held(pairs, fork)]
    children = [
        held(
            {path: value for path, value in pairs.items() if path[depth:][:1] == (nibble,)},
            depth + 1,
        )
        for nibble in range(16)
    ]
    return [*children, b"".join(value for path, value in pairs.items() if len(path) == depth)]


def held(pairs: Mapping[Nibbles, bytes], depth: int) -> Value:
    inner = structure(pairs, depth)
    raw = encode(inner)
    return inner if len(raw) < 32 else keccak(raw)
