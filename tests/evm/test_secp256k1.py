"""The curve: what one signs the other recovers, and the published example."""

import copy
import pickle

import pytest

from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HALF_N, HeldEvmKey, N, Signature, address, recover, sign

SECRET = bytes.fromhex("4646464646464646464646464646464646464646464646464646464646464646")
DIGEST = bytes.fromhex("daf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53")


def test_the_example_of_eip_155_is_reproduced() -> None:
    signed = sign(DIGEST, SECRET)
    assert f"{signed.r:x}" == "28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276"
    assert f"{signed.s:x}" == "67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
    assert recover(DIGEST, signed) == address(SECRET)
    assert address(SECRET).hex() == "9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f"


def test_a_signature_has_the_lower_s() -> None:
    for number in range(1, 50):
        signed = sign(keccak(bytes([number])), SECRET)
        assert 0 < signed.s <= HALF_N
        assert recover(keccak(bytes([number])), signed) == address(SECRET)


@pytest.mark.parametrize(
    "signature",
    [
        Signature(0, 0, 1),
        Signature(0, 1, 0),
        Signature(0, N, 1),
        Signature(0, 1, N),
        Signature(2, 1, 1),
        Signature(0, 5, 1),
    ],
)
def test_what_nobody_can_have_signed_has_no_address(signature: Signature) -> None:
    assert recover(DIGEST, signature) is None


def test_a_held_key_signs_as_its_secret_does() -> None:
    held = HeldEvmKey(SECRET)
    assert held.address == address(SECRET)
    assert held.sign(DIGEST) == sign(DIGEST, SECRET)


def test_a_held_key_shows_its_account_alone_and_is_not_copied() -> None:
    held = HeldEvmKey(SECRET)
    assert repr(held) == str(held) == f"HeldKey(address={address(SECRET)!r})"
    with pytest.raises(TypeError):
        pickle.dumps(held)
    with pytest.raises(TypeError):
        copy.deepcopy(held)


@pytest.mark.parametrize("secret", [b"", b"\1" * 31, b"\1" * 33, bytes(32), N.to_bytes(32, "big")])
def test_what_is_no_secret_of_the_curve_is_refused(secret: bytes) -> None:
    with pytest.raises(ValueError):
        HeldEvmKey(secret)
