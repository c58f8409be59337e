"""Ed25519 as a JAM chain counts it: keys made from a seed, and signatures by the rules of ZIP-215.

libsodium signs, and it is asked first about every signature. It refuses more than ZIP-215 does and
never less (docs/decisions/0018), so what it takes is taken, and only what it refuses is computed
again here, with whole numbers: some thirty times as slow, and never needed for an honest signature.
No secret is shown, and nothing is computed from one in Python.
"""

import hashlib
from typing import Final, NoReturn, TypeAlias

from nacl.bindings import crypto_sign, crypto_sign_open, crypto_sign_seed_keypair
from nacl.exceptions import BadSignatureError

KEY_BYTES: Final = 32
SEED_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
ZERO_KEY: Final = bytes(KEY_BYTES)
"""What stands in the place of an offender's key. It is a point of order four: anybody can sign."""

Point: TypeAlias = tuple[int, int, int, int]
"""X, Y, Z and T with x = X/Z, y = Y/Z, x·y = T/Z (RFC 8032, 5.1.4)."""

P: Final = 2**255 - 19
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""Of the base point: how many multiples it has."""
D: Final = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE: Final = pow(2, (P - 1) // 4, P)
IDENTITY: Final[Point] = (0, 1, 1, 0)
SIGN_BIT: Final = 1 << 255
Y_OF_ORDER_EIGHT: Final = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826


class HeldEd25519Key:
    """A seed made ready once. It shows its public key alone."""

    __slots__ = ("_secret", "public_key")

    def __init__(self, seed: bytes) -> None:
        """ValueError where this is no seed; the error does not show it."""
        if len(seed) != SEED_BYTES:
            raise ValueError("a seed has 32 bytes")
        self.public_key, self._secret = crypto_sign_seed_keypair(seed)

    def sign(self, message: bytes) -> bytes:
        """R and s in 64 bytes; deterministic (RFC 8032)."""
        return crypto_sign(message, self._secret)[:SIGNATURE_BYTES]

    def __repr__(self) -> str:
        return f"HeldKey(public_key={self.public_key.hex()})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not copied or written anywhere")


def verifies(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the key signed it, by ZIP-215. For a weak key anybody can make that true."""
    # Asked before libsodium, which checks no length and can be built to take s beyond the order.
    if not _is_well_formed(public_key, signature):
        return False
    try:
        crypto_sign_open(signature + message, public_key)
    except BadSignatureError:
        return _holds_times_eight(public_key, signature, message)
    return True


def is_weak(public_key: bytes) -> bool:
    """Whether anybody can sign for the key: a point of small order, in whatever encoding."""
    return public_key in _WEAK_KEYS


def _is_well_formed(public_key: bytes, signature: bytes) -> bool:
    if len(public_key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    return int.from_bytes(signature[32:], "little") < ORDER


def _holds_times_eight(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """[8][s]B = [8]R + [8][k]A, with R and A in any encoding that is one of a point."""
    key, commitment = _point(public_key), _point(signature[:32])
    if key is None or commitment is None:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    response = int.from_bytes(signature[32:], "little")
    left = _sum_of_multiples(response, BASE, challenge, _negative(key))
    return _is_small(_add(left, _negative(commitment)))


def _sum_of_multiples(first: int, p: Point, second: int, q: Point) -> Point:
    """first·p + second·q, one doubling a bit for both."""
    added = (None, p, q, _add(p, q))
    total = IDENTITY
    for bit in range(max(first.bit_length(), second.bit_length()) - 1, -1, -1):
        total = _double(total)
        step = added[(first >> bit & 1) + 2 * (second >> bit & 1)]
        if step is not None:
            total = _add(total, step)
    return total


def _is_small(point: Point) -> bool:
    """Whether eight times the point is the identity."""
    x, y, z, _ = _double(_double(_double(point)))
    return x == 0 and y == z


def _add(p: Point, q: Point) -> Point:
    """Complete for every two points of the curve, equal ones too (RFC 8032, 5.1.4)."""
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _double(p: Point) -> Point:
    a, b, c = p[0] * p[0] % P, p[1] * p[1] % P, 2 * p[2] * p[2] % P
    h = a + b
    e = h - (p[0] + p[1]) ** 2 % P
    g = a - b
    f = c + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def _negative(p: Point) -> Point:
    return -p[0] % P, p[1], p[2], -p[3] % P


def _point(encoding: bytes) -> Point | None:
    """The point that 32 bytes say, if any; y may be beyond the prime, and zero may have a sign."""
    number = int.from_bytes(encoding, "little")
    y = (number & ~SIGN_BIT) % P
    x = _x_of(y)
    if x is None:
        return None
    if x & 1 != number >> 255:
        x = -x % P
    return x, y, 1, x * y % P


def _x_of(y: int) -> int | None:
    """One of the two x whose square is (y² − 1)/(d·y² + 1), if it has a root."""
    u, v = y * y - 1, D * y * y + 1
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P == 0:
        return x
    x = x * ROOT_OF_MINUS_ONE % P
    return x if (v * x * x - u) % P == 0 else None


def _encodings(y: int) -> list[bytes]:
    """Every 32 bytes that say a point of this y, also those that nobody should write."""
    written = [y, y + P] if y + P < SIGN_BIT else [y]
    return [(one + sign).to_bytes(32, "little") for one in written for sign in (0, SIGN_BIT)]


def _known(point: Point | None) -> Point:
    assert point is not None
    return point


BASE: Final = _known(_point((4 * pow(5, -1, P) % P).to_bytes(32, "little")))
_WEAK_KEYS: Final = frozenset(
    encoding
    for y in (0, 1, P - 1, Y_OF_ORDER_EIGHT, P - Y_OF_ORDER_EIGHT)
    for encoding in _encodings(y)
)
