"""The contract for powers: prices of two kinds, and numbers of every length (EIP-198)."""

import pytest

from laneway.evm.limits import MODEXP_GAS_MAX
from laneway.evm.precompiles import modexp

P = 2**256 - 2**32 - 977
HUGE = (1 << 256) - 1


def call(base: bytes, exponent: bytes, modulus: bytes) -> bytes:
    return lengths(len(base), len(exponent), len(modulus)) + base + exponent + modulus


def lengths(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(32, "big") for number in numbers)


def word(number: int) -> bytes:
    return number.to_bytes(32, "big")


FERMAT = call(b"\3", word(P - 1), word(P))
CUT = lengths(1, 2, 32) + b"\3\xff\xff\x80"
"""In EIP-198: the modulus 2^255 is only begun."""
CUT_RESULT = bytes.fromhex("3b01b01ac41f2d6e917c6d6a221ce793802469026d9ab7578fa2e79e4da6aaab")
RESULTS: dict[str, tuple[bytes, bytes]] = {
    "no input": (b"", b""),
    "Fermat's theorem": (FERMAT, word(1)),
    "no base": (lengths(0, 32, 32) + word(P - 1) + word(P), word(0)),
    "a modulus that is only begun": (CUT, CUT_RESULT),
    "bytes after the modulus": (CUT + bytes(31) + b"\7", CUT_RESULT),
    "zero to the power of zero": (call(b"\0", b"\0", b"\7"), b"\1"),
    "nothing to the power of nothing": (call(b"", b"", b"\7"), b"\1"),
    "a modulus of one": (call(b"\5", b"\0", b"\0\1"), b"\0\0"),
    "a modulus of zero": (call(b"\5", b"\2", b"\0\0\0"), b"\0\0\0"),
    "a modulus of no bytes": (call(b"\5", b"\2", b""), b""),
    "an even modulus": (call(b"\5", b"\3", b"\x40"), b"\x3d"),
    "a base above the modulus": (call(b"\xff\xff", b"\1", b"\x10"), b"\x0f"),
    "lengths alone": (lengths(3, 2, 4), bytes(4)),
    "a length that is only begun": (lengths(0, 0, 1)[:-1], b""),
    "the longest numbers of Osaka": (
        call(b"\2" + bytes(1023), b"\1", b"\xff" * 1024),
        b"\2" + bytes(1023),
    ),
}
FULL = b"\xff" * 32
PRICES: dict[str, tuple[bytes, int, int]] = {
    "no input": (b"", 200, 500),
    "32 bytes": (call(FULL, FULL, FULL), 1_360, 4_080),
    "a base of 33 bytes": (call(FULL + b"\0", FULL, b""), 2_125, 12_750),
    "a modulus of 33 bytes": (call(b"", FULL, FULL + b"\0"), 2_125, 12_750),
    "an exponent of one bit": (call(FULL * 4, b"\0\1", FULL * 4), 200, 512),
    "an exponent of nine bits": (call(FULL * 4, b"\1\0", FULL * 4), 682, 4_096),
    "an exponent of zeros": (call(FULL * 4, bytes(32), FULL * 4), 200, 512),
    "33 bytes of exponent, the first 32 of them zero": (
        call(FULL * 4, bytes(32) + b"\xff", FULL * 4),
        682,
        8_192,
    ),
    "33 bytes of exponent": (call(FULL * 4, FULL + b"\0", FULL * 4), 22_442, 138_752),
    "an exponent that is only begun": (lengths(0, 32, 128) + b"\1", 21_162, 126_976),
    "kilobytes": (
        call(FULL * 32, FULL * 32, FULL * 32),
        44_733_781,
        528_449_536,
    ),
    "a base beyond all memory": (lengths(HUGE, 0, 0), (1 << 506) // 3, 1 << 507),
    "an exponent beyond all memory": (
        lengths(1, HUGE, 1),
        8 * (HUGE - 32) // 3,
        16 * 16 * (HUGE - 32),
    ),
    "lengths beyond all memory": (
        lengths(HUGE, HUGE, HUGE),
        (1 << 506) * 8 * (HUGE - 32) // 3,
        (1 << 507) * 16 * (HUGE - 32),
    ),
    "an exponent alone, beyond all memory": (lengths(0, HUGE, 0), 200, 16 * 16 * (HUGE - 32)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_the_result_of(name: str) -> None:
    data, wanted = RESULTS[name]
    assert modexp.run(data) == modexp.run_since_osaka(data) == wanted


@pytest.mark.parametrize("name", PRICES)
def test_the_price_of(name: str) -> None:
    data, since_berlin, since_osaka = PRICES[name]
    assert modexp.gas(data) == since_berlin
    assert modexp.gas_since_osaka(data) == since_osaka


@pytest.mark.parametrize("place", range(3))
def test_since_osaka_no_number_is_longer_than_a_kilobyte(place: int) -> None:
    numbers = [1, 1, 1]
    numbers[place] = 1_024
    assert modexp.run_since_osaka(lengths(*numbers)) is not None
    numbers[place] = 1_025
    assert modexp.run(lengths(*numbers)) is not None
    assert modexp.run_since_osaka(lengths(*numbers)) is None


@pytest.mark.parametrize(
    "numbers", [(HUGE, 0, 0), (0, 0, HUGE), (1, HUGE, 1), (HUGE, HUGE, HUGE), (1 << 40, 0, 1)]
)
def test_what_nobody_can_pay_for_fails_without_being_computed(numbers: tuple[int, ...]) -> None:
    data = lengths(*numbers) + b"\1\1\1"
    assert modexp.gas(data) > MODEXP_GAS_MAX
    assert modexp.run(data) is None
    assert modexp.run_since_osaka(data) is None


def test_a_long_exponent_beside_a_modulus_of_no_bytes_is_not_read() -> None:
    data = lengths(0, HUGE, 0) + b"\1"
    assert modexp.run(data) == b""
    assert modexp.run_since_osaka(data) is None
