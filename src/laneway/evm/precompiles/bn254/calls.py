"""The contracts of bn254: addition, multiplication and pairing (EIP-196, EIP-197; prices EIP-1108).

A coordinate that is not reduced, a point off its curve and one of another order fail.
"""

from typing import TYPE_CHECKING

from laneway.evm.limits import PAIRS_AT_ONCE_MAX

if TYPE_CHECKING:
    from laneway.evm.precompiles.bn254.curve import Point
    from laneway.evm.precompiles.bn254.twist import TwistPoint

ADDITION_GAS = 150
MULTIPLICATION_GAS = 6_000
PAIRING_GAS, PAIR_GAS = 45_000, 34_000
PAIR_BYTES = 192


def addition_gas(_data: bytes) -> int:
    return ADDITION_GAS


def addition(data: bytes) -> bytes | None:
    from laneway.evm.precompiles.bn254.curve import add

    padded = data[:128].ljust(128, b"\0")
    first, second = point(padded[:64]), point(padded[64:])
    return None if first is None or second is None else written(add(first, second))


def multiplication_gas(_data: bytes) -> int:
    return MULTIPLICATION_GAS


def multiplication(data: bytes) -> bytes | None:
    from laneway.evm.precompiles.bn254.curve import multiply

    padded = data[:96].ljust(96, b"\0")
    base = point(padded[:64])
    if base is None:
        return None
    return written(multiply(base, int.from_bytes(padded[64:], "big")))


def pairing_gas(data: bytes) -> int:
    return PAIRING_GAS + len(data) // PAIR_BYTES * PAIR_GAS


def pairing(data: bytes) -> bytes | None:
    from laneway.evm.precompiles.bn254.curve import INFINITY
    from laneway.evm.precompiles.bn254.pairing import Pair, final_power, value_of_lines
    from laneway.evm.precompiles.bn254.tower import ONE, multiply
    from laneway.evm.precompiles.bn254.twist import AT_INFINITY, walk

    if len(data) % PAIR_BYTES:
        return None
    value = ONE
    for start in range(0, len(data), PAIR_BYTES * PAIRS_AT_ONCE_MAX):
        pairs: list[Pair] = []
        end = min(len(data), start + PAIR_BYTES * PAIRS_AT_ONCE_MAX)
        for at in range(start, end, PAIR_BYTES):
            first, second = point(data[at : at + 64]), twist_point(data[at + 64 : at + PAIR_BYTES])
            if first is None or second is None:
                return None
            chords = [] if second == AT_INFINITY else walk(second)
            if chords is None:
                return None
            if chords and first != INFINITY:
                pairs.append((first, chords))
        value = multiply(value, value_of_lines(pairs))
    return int(final_power(value) == ONE).to_bytes(32, "big")


def point(data: bytes) -> "Point | None":
    """The point of two words; None if there is no such point."""
    from laneway.evm.precompiles.bn254.curve import P, is_on_curve
    from laneway.evm.precompiles.integers import number

    x, y = number(int.from_bytes(data[:32], "big")), number(int.from_bytes(data[32:], "big"))
    return (x, y) if x < P and y < P and is_on_curve(x, y) else None


def twist_point(data: bytes) -> "TwistPoint | None":
    """The point of four words, of which each second one is the real part."""
    from laneway.evm.precompiles.bn254.curve import P
    from laneway.evm.precompiles.bn254.twist import is_on_twist
    from laneway.evm.precompiles.integers import number

    x1, x0, y1, y0 = (number(int.from_bytes(data[at : at + 32], "big")) for at in (0, 32, 64, 96))
    if max(x0, x1, y0, y1) >= P or not is_on_twist((x0, x1), (y0, y1)):
        return None
    return (x0, x1), (y0, y1)


def written(point: "Point") -> bytes:
    return b"".join(int(part).to_bytes(32, "big") for part in point)
