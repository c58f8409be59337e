"""Which contracts each fork has, and that no input is answered by an exception."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.evm.fork import Fork
from laneway.evm.precompiles.errors import PrecompileUnavailable
from laneway.evm.precompiles.table import Precompile, check_packages, precompiles

FORKS = (Fork.CANCUN, Fork.PRAGUE, Fork.OSAKA)
NAMES = {
    1: "ECREC",
    2: "SHA256",
    3: "RIPEMD160",
    4: "ID",
    5: "MODEXP",
    6: "BN254_ADD",
    7: "BN254_MUL",
    8: "BN254_PAIRING",
    9: "BLAKE2F",
    10: "KZG_POINT_EVALUATION",
    11: "BLS12_G1ADD",
    12: "BLS12_G1MSM",
    13: "BLS12_G2ADD",
    14: "BLS12_G2MSM",
    15: "BLS12_PAIRING_CHECK",
    16: "BLS12_MAP_FP_TO_G1",
    17: "BLS12_MAP_FP2_TO_G2",
    256: "P256VERIFY",
}
LENGTHS = (0, 32, 64, 96, 128, 160, 192, 213, 256, 288, 384, 512)


def named(fork: Fork) -> dict[int, str]:
    return {int.from_bytes(at, "big"): one.name for at, one in precompiles(fork).items()}


def at(fork: Fork, number: int) -> Precompile:
    return precompiles(fork)[number.to_bytes(20, "big")]


@pytest.mark.parametrize(
    ("fork", "last"), [(Fork.CANCUN, 10), (Fork.PRAGUE, 17), (Fork.OSAKA, 256)]
)
def test_a_fork_has_its_contracts(fork: Fork, last: int) -> None:
    assert named(fork) == {number: name for number, name in NAMES.items() if number <= last}
    assert precompiles(fork) is precompiles(fork)


def test_osaka_changes_the_price_of_powers_and_their_bounds() -> None:
    long = (1_025).to_bytes(32, "big") * 3
    for fork in (Fork.CANCUN, Fork.PRAGUE):
        assert at(fork, 5).gas(b"") == 200
        assert at(fork, 5).run(long) == bytes(1_025)
    assert at(Fork.OSAKA, 5).gas(b"") == 500
    assert at(Fork.OSAKA, 5).run(long) is None


def test_before_cancun_there_is_no_table() -> None:
    with pytest.raises(AssertionError):
        precompiles(Fork.SHANGHAI)


def test_a_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        precompiles(Fork.OSAKA)[bytes(20)] = at(Fork.OSAKA, 4)  # type: ignore[index]


@settings(max_examples=40)
@given(
    fork=st.sampled_from(FORKS),
    length=st.sampled_from(LENGTHS),
    fill=st.sampled_from([b"\0", b"\1", b"\x7f", b"\xff"]),
    tail=st.binary(max_size=40),
)
def test_no_input_is_answered_by_an_exception(
    fork: Fork, length: int, fill: bytes, tail: bytes
) -> None:
    data = fill * length + tail
    for number in named(fork):
        contract = at(fork, number)
        gas = contract.gas(data)
        assert gas >= 0
        if gas < 1 << 20:
            output = contract.run(data)
            assert output is None or type(output) is bytes


def test_all_packages_are_installed_here() -> None:
    check_packages()


@pytest.mark.parametrize("package", ["py_arkworks_bls12381", "blake2b", "gmpy2"])
def test_a_package_that_is_missing_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PrecompileUnavailable, match=package):
        check_packages()
