"""Laws of signatures: what is signed verifies, by ZIP-215 and not by libsodium's stricter rules.

Points are added here a second time, in plain coordinates, so that keys and signatures with parts of
small order can be made without the arithmetic that judges them.
"""

import copy
import hashlib
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl.bindings import crypto_sign_open
from nacl.exceptions import BadSignatureError
from tests.jam.zip215 import zip215_verifies

from laneway.jam.ed25519 import (
    ORDER,
    ZERO_KEY,
    HeldEd25519Key,
    P,
    is_weak,
    verifies,
)

SEED = b"\x07" * 32
D = -121665 * pow(121666, -1, P) % P
Affine = tuple[int, int]
BASE: Affine = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)
"""Of RFC 8032, section 5.1."""
EIGHTH: Affine = (
    14399317868200118260347934320527232580618823971194345261214217575416788799818,
    2707385501144840649318225287225658788936804267575313519463743609750303402022,
)
"""A point of order eight: its multiples are all points of small order."""


def plus(p: Affine, q: Affine) -> Affine:
    product = D * p[0] * q[0] * p[1] * q[1] % P
    x = (p[0] * q[1] + p[1] * q[0]) * pow(1 + product, -1, P) % P
    y = (p[1] * q[1] + p[0] * q[0]) * pow(1 - product, -1, P) % P
    return x, y


def times(count: int, p: Affine) -> Affine:
    total = (0, 1)
    while count:
        if count & 1:
            total = plus(total, p)
        p, count = plus(p, p), count >> 1
    return total


def written(p: Affine) -> bytes:
    return (p[1] | (p[0] & 1) << 255).to_bytes(32, "little")


def all_written(p: Affine) -> list[bytes]:
    """In each way that ZIP-215 reads as this point."""
    numbers = [p[1]] + [p[1] + P] * (p[1] + P < 1 << 255)
    signs = (0, 1) if p[0] == 0 else (p[0] & 1,)
    return [(y | sign << 255).to_bytes(32, "little") for y in numbers for sign in signs]


def signed_with(a: int, key: bytes, r: int, commitment: bytes, message: bytes) -> bytes:
    """By the book, with a key and a commitment that may have parts of small order beside these."""
    digest = hashlib.sha512(commitment + key + message).digest()
    challenge = int.from_bytes(digest, "little") % ORDER
    return commitment + ((r + challenge * a) % ORDER).to_bytes(32, "little")


def libsodium_verifies(key: bytes, signature: bytes, message: bytes) -> bool:
    try:
        crypto_sign_open(signature + message, key)
    except BadSignatureError:
        return False
    return True


WEAK = [encoding for count in range(8) for encoding in all_written(times(count, EIGHTH))]


def test_rfc_8032s_own_example() -> None:
    seed = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    key = HeldEd25519Key(seed)
    assert key.public_key.hex().startswith(
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f1"
    )
    assert (
        key.sign(b"\x72")
        .hex()
        .startswith("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223")
    )


@settings(max_examples=25)
@given(st.binary(max_size=300))
def test_what_is_signed_verifies_and_nothing_else_does(message: bytes) -> None:
    key = HeldEd25519Key(SEED)
    signature = key.sign(message)
    assert signature == key.sign(message), "deterministic"
    assert verifies(key.public_key, signature, message)
    assert not verifies(key.public_key, signature, message + b"x")
    assert not verifies(HeldEd25519Key(b"\x08" * 32).public_key, signature, message)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 96 * 8 - 1))
def test_no_bit_of_key_or_signature_can_be_changed(bit: int) -> None:
    key = HeldEd25519Key(SEED)
    whole = bytearray(key.public_key + key.sign(b"message"))
    assert zip215_verifies(bytes(whole[:32]), bytes(whole[32:]), b"message")
    whole[bit // 8] ^= 1 << bit % 8
    assert not verifies(bytes(whole[:32]), bytes(whole[32:]), b"message")


@settings(max_examples=15, deadline=None)
@given(st.integers(1, ORDER - 1), st.integers(1, ORDER - 1), st.integers(0, 7), st.integers(0, 7))
def test_parts_of_small_order_in_key_and_commitment_do_not_matter(
    a: int, r: int, key_part: int, commitment_part: int
) -> None:
    key = written(plus(times(a, BASE), times(key_part, EIGHTH)))
    commitment = written(plus(times(r, BASE), times(commitment_part, EIGHTH)))
    signature = signed_with(a, key, r, commitment, b"message")
    assert zip215_verifies(key, signature, b"message")
    assert verifies(key, signature, b"message")
    assert not verifies(key, signature, b"other")
    if key_part == commitment_part == 0:
        assert libsodium_verifies(key, signature, b"message")


def test_libsodium_takes_nothing_that_zip215_refuses() -> None:
    """Each kind of key with each kind of commitment, honest and of small order, in each writing."""
    taken = 0
    for a in (0, 5):
        for r in (0, 9):
            for part in range(8):
                for key in all_written(plus(times(a, BASE), times(part, EIGHTH))):
                    for commitment in all_written(plus(times(r, BASE), times(part, EIGHTH))):
                        signature = signed_with(a, key, r, commitment, b"message")
                        assert zip215_verifies(key, signature, b"message")
                        taken += libsodium_verifies(key, signature, b"message")
                        assert not libsodium_verifies(key, signature, b"other")
    assert taken >= 1


def test_points_of_small_order_are_fourteen_byte_strings_and_all_of_them_are_weak() -> None:
    assert times(8, EIGHTH) == (0, 1) != times(4, EIGHTH)
    assert len(set(WEAK)) == len(WEAK) == 14
    assert all(is_weak(key) for key in WEAK)
    assert ZERO_KEY in WEAK
    assert not is_weak(HeldEd25519Key(SEED).public_key)
    assert not is_weak(written(plus(BASE, EIGHTH)))


@pytest.mark.parametrize("key", WEAK, ids=range(14))
def test_anybody_can_sign_for_a_weak_key(key: bytes) -> None:
    nobody = WEAK[0] + bytes(32)
    assert verifies(key, nobody, b"whatever")
    assert not libsodium_verifies(key, nobody, b"whatever")


def test_a_response_beyond_the_order_is_refused() -> None:
    key = HeldEd25519Key(SEED)
    signature = key.sign(b"x")
    beyond = int.from_bytes(signature[32:], "little") + ORDER
    forged = signature[:32] + beyond.to_bytes(32, "little")
    assert not verifies(key.public_key, forged, b"x")
    assert not zip215_verifies(key.public_key, forged, b"x")


def test_bytes_that_are_no_point_are_no_key_and_no_commitment() -> None:
    key = HeldEd25519Key(SEED)
    signature = key.sign(b"x")
    nowhere = (2).to_bytes(32, "little")
    assert not verifies(nowhere, signature, b"x")
    assert not verifies(key.public_key, nowhere + signature[32:], b"x")


@pytest.mark.parametrize("count", [0, 31, 33, 64])
def test_a_key_or_signature_of_another_length_verifies_nothing(count: int) -> None:
    key = HeldEd25519Key(SEED)
    assert not verifies(bytes(count), key.sign(b"x"), b"x")
    assert not verifies(key.public_key, bytes(count + 1), b"x")


@pytest.mark.parametrize("count", [0, 31, 33])
def test_a_seed_of_another_length_is_refused_and_not_shown(count: int) -> None:
    with pytest.raises(ValueError, match=r"^a seed has 32 bytes$"):
        HeldEd25519Key(b"s" * count)


def test_a_key_is_neither_shown_nor_copied() -> None:
    key = HeldEd25519Key(SEED)
    assert SEED.hex() not in repr(key)
    assert key.public_key.hex() in repr(key)
    for take in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            take(key)
