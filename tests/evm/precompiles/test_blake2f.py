"""The contract for BLAKE2b's compression: the vectors of EIP-152, with the package and without."""

import sys
from hashlib import blake2b

import pytest

from laneway.evm.precompiles import blake2f

TAIL = bytes.fromhex(
    "48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5"
    "d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b"
    "6162630000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "03000000000000000000000000000000"
)
ABC = blake2b(b"abc").digest()
CASES: dict[str, tuple[bytes, bytes | None]] = {
    "no input": (b"", None),
    "a byte too few": (bytes(3) + b"\x0c" + TAIL, None),
    "a byte too many": (bytes(3) + b"\x0c" + TAIL + b"\1\0", None),
    "a flag that is neither zero nor one": (bytes(3) + b"\x0c" + TAIL + b"\2", None),
    "no rounds": (
        bytes(4) + TAIL + b"\1",
        bytes.fromhex(
            "08c9bcf367e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5"
            "d282e6ad7f520e511f6c3e2b8c68059b9442be0454267ce079217e1319cde05b"
        ),
    ),
    "twelve rounds": (bytes(3) + b"\x0c" + TAIL + b"\1", ABC),
    "twelve rounds of a block that is not the last": (
        bytes(3) + b"\x0c" + TAIL + b"\0",
        bytes.fromhex(
            "75ab69d3190a562c51aef8d88f1c2775876944407270c42c9844252c26d28752"
            "98743e7f6d5ea2f2d3e8d226039cd31b4e426ac4f2d3d666a610c2116fde4735"
        ),
    ),
    "one round": (
        bytes(3) + b"\1" + TAIL + b"\1",
        bytes.fromhex(
            "b63a380cb2897d521994a85234ee2c181b5f844d2c624c002677e9703449d2fb"
            "a551b3a8333bcdf5f2f7e08993d53923de3d64fcc68c034e717b9293fed7a421"
        ),
    ),
    "a position of two words": (
        bytes(3) + b"\x0b" + TAIL[:-16] + b"\xff" * 16 + b"\1",
        bytes.fromhex(
            "87b2876161c36b902f12aec4f987272c0885d29576e0f066f55bbb698987b0ed"
            "3c9cbcdbe8992ea5ff9c21db53b508ec4c2fb581deb6e8496819b58ab699bc8e"
        ),
    ),
}


@pytest.fixture(params=["with the package", "without it"])
def _package(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without it":
        monkeypatch.setitem(sys.modules, "blake2b", None)


@pytest.mark.usefixtures("_package")
@pytest.mark.parametrize("name", CASES)
def test_a_compression_of(name: str) -> None:
    data, wanted = CASES[name]
    assert blake2f.run(data) == wanted


def test_a_round_costs_a_unit_of_gas() -> None:
    for rounds in (0, 1, 12, (1 << 32) - 1):
        assert blake2f.gas(rounds.to_bytes(4, "big") + TAIL + b"\1") == rounds
    assert blake2f.gas(b"\xff" * 4 + TAIL) == 0
    assert blake2f.gas(b"") == 0
