"""Both kinds of arithmetic give equal values."""

import runpy
import sys

import pytest

from laneway.evm.precompiles import integers

CASES = [(0, 0, 1), (5, 0, 1), (0, 0, 7), (3, 5, 8), (-2, 3, 7), (2**200, 2**70 + 1, 2**130 - 4)]


@pytest.mark.parametrize(("base", "exponent", "modulus"), CASES)
def test_a_power_is_that_of_python(base: int, exponent: int, modulus: int) -> None:
    assert integers.power(base, exponent, modulus) == pow(base, exponent, modulus)


def test_without_gmpy2_python_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    plain = runpy.run_path(integers.__file__)
    assert type(plain["number"](5)) is int
    assert plain["number"](5) == integers.number(5)
    assert plain["inverse"](3, 7) == integers.inverse(3, 7) == 5
    for base, exponent, modulus in CASES:
        assert plain["power"](base, exponent, modulus) == pow(base, exponent, modulus)
