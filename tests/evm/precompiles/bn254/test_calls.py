"""The contracts of bn254: what they answer, and which inputs fail (EIP-196, EIP-197)."""

import pytest
from tests.evm.precompiles.bn254.test_twist import OFF_ORDER, times
from tests.evm.precompiles.bn254.test_twist import G as SECOND

from laneway.evm.precompiles.bn254 import calls
from laneway.evm.precompiles.bn254.curve import N, P, multiply
from laneway.evm.precompiles.bn254.twist import TwistPoint

ONE, ZERO = (1).to_bytes(32, "big"), bytes(32)


def words(*numbers: int) -> bytes:
    return b"".join(int(number).to_bytes(32, "big") for number in numbers)


def first(scalar: int) -> bytes:
    return words(*multiply((1, 2), scalar))


def second(point: TwistPoint | None) -> bytes:
    (x0, x1), (y0, y1) = point or ((0, 0), (0, 0))
    return words(x1, x0, y1, y0)


G1, G1_OPPOSITE, G2 = words(1, 2), words(1, P - 2), second(SECOND)
TWICE = bytes.fromhex(
    "030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3"
    "15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4"
)
ADDITIONS = {
    "no input": (b"", bytes(64)),
    "a point and nothing": (G1, G1),
    "nothing and a point": (bytes(64) + G1, G1),
    "a point twice": (G1 + G1, TWICE),
    "a point and its opposite": (G1 + G1_OPPOSITE, bytes(64)),
    "bytes after two points": (G1 + G1 + b"\xff" * 40, TWICE),
    "a second point that is cut and so another": (G1 + G1[:63], None),
    "a point off the curve": (words(1, 3), None),
    "a second point off the curve": (G1 + words(0, 1), None),
    "an x that is not reduced": (words(1 + P, 2), None),
    "a y that is not reduced": (words(1, 2 + P), None),
    "zeros that are not reduced": (words(P, P), None),
}
MULTIPLICATIONS = {
    "no input": (b"", bytes(64)),
    "no scalar": (G1, bytes(64)),
    "one": (G1 + words(1), G1),
    "two": (G1 + words(2), TWICE),
    "a scalar that is cut and so larger": (G1 + b"\1", first(1 << 248)),
    "bytes after the scalar": (G1 + words(2) + b"\xff", TWICE),
    "the order": (G1 + words(N), bytes(64)),
    "one less than the order": (G1 + words(N - 1), G1_OPPOSITE),
    "two less than the order": (
        G1 + words(N - 2),
        TWICE[:32] + words(P - int.from_bytes(TWICE[32:], "big")),
    ),
    "one more than the order": (G1 + words(N + 1), G1),
    "the largest scalar": (
        G1 + b"\xff" * 32,
        bytes.fromhex(
            "2f588cffe99db877a4434b598ab28f81e0522910ea52b45f0adaa772b2d5d352"
            "12f42fa8fd34fb1b33d8c6a718b6590198389b26fc9d8808d971f8b009777a97"
        ),
    ),
    "infinity": (bytes(64) + words(5), bytes(64)),
    "a point off the curve": (words(1, 3, 5), None),
    "a point off the curve times zero": (words(1, 3, 0), None),
    "a coordinate that is not reduced": (words(1, 2 + P, 1), None),
}
PAIRINGS = {
    "no input": (b"", ONE),
    "one pair": (G1 + G2, ZERO),
    "opposites": (G1 + G2 + G1_OPPOSITE + G2, ONE),
    "factors on either side": (
        first(5) + second(times(7, SECOND)) + first(N - 35) + G2,
        ONE,
    ),
    "factors that do not cancel": (
        first(5) + second(times(7, SECOND)) + first(N - 34) + G2,
        ZERO,
    ),
    "infinity with a point": (bytes(64) + G2, ONE),
    "a point with infinity": (G1 + bytes(128), ONE),
    "infinity with infinity": (bytes(192), ONE),
    "infinity beside a pair": (bytes(192) + G1 + G2, ZERO),
    "a byte too few": ((G1 + G2)[:-1], None),
    "a byte too many": (G1 + G2 + b"\0", None),
    "a first point off its curve": (words(1, 3) + G2, None),
    "a first point off its curve, with infinity": (words(1, 3) + bytes(128), None),
    "a second point off its curve": (G1 + words(0, 0, 0, 1), None),
    "a second point off its curve, with infinity": (bytes(64) + words(0, 0, 0, 1), None),
    "a second point with its parts in the other order": (
        G1 + G2[32:64] + G2[:32] + G2[96:] + G2[64:96],
        None,
    ),
    "parts that are not reduced": (G1 + words(P, 0, 0, 0), None),
    "an imaginary part that is not reduced": (
        G1 + words(SECOND[0][1] + P, SECOND[0][0], SECOND[1][1], SECOND[1][0]),
        None,
    ),
    **{f"a second point {name}": (G1 + second(OFF_ORDER[name]), None) for name in OFF_ORDER},
    **{
        f"infinity with a second point {name}": (bytes(64) + second(OFF_ORDER[name]), None)
        for name in OFF_ORDER
    },
}


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_of(name: str) -> None:
    data, wanted = ADDITIONS[name]
    assert calls.addition(data) == wanted
    assert calls.addition_gas(data) == 150


@pytest.mark.parametrize("name", MULTIPLICATIONS)
def test_a_multiplication_by(name: str) -> None:
    data, wanted = MULTIPLICATIONS[name]
    assert calls.multiplication(data) == wanted
    assert calls.multiplication_gas(data) == 6_000


@pytest.mark.parametrize("name", PAIRINGS)
def test_a_pairing_of(name: str) -> None:
    data, wanted = PAIRINGS[name]
    assert calls.pairing(data) == wanted


def test_a_pairing_has_a_price_for_each_whole_pair() -> None:
    assert calls.pairing_gas(b"") == calls.pairing_gas(bytes(191)) == 45_000
    assert calls.pairing_gas(bytes(192)) == 79_000
    assert calls.pairing_gas(bytes(10 * 192)) == 385_000


def test_pairs_that_are_taken_in_parts_have_the_same_product(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "PAIRS_AT_ONCE_MAX", 2)
    both = G1 + G2 + G1_OPPOSITE + G2
    assert calls.pairing(both + both[:192]) == ZERO
    assert calls.pairing(both[:192] + both + both[192:]) == ONE
    assert calls.pairing(both + words(1, 3) + G2) is None
