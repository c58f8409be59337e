"""Laws of leaves: basic data has one form, and code is cut as EIP-7864 says."""

import random

import pytest

from laneway.ubt.account import (
    BasicData,
    chunk_count,
    chunkify,
    decode_basic_data,
    encode_basic_data,
)
from laneway.ubt.errors import BalanceTooBig, CodeTooBig, NonceUnfit
from laneway.ubt.limits import BALANCE_WEI_MAX, CODE_SIZE_MAX, NONCE_MAX

ADDRESS = b"\x42" * 20


def test_basic_data_is_packed_in_big_endian() -> None:
    leaf = encode_basic_data(ADDRESS, BasicData(0x0102, 0x0304, 0x0506))
    assert leaf.hex() == "0000000000000506000000000000010200000000000000000000000000000304"


@pytest.mark.parametrize(
    "data",
    [
        BasicData(),
        BasicData(1, 2, 3),
        BasicData(NONCE_MAX, BALANCE_WEI_MAX, CODE_SIZE_MAX),
    ],
)
def test_what_fits_is_read_back(data: BasicData) -> None:
    assert decode_basic_data(encode_basic_data(ADDRESS, data)) == data


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (BasicData(balance_wei=1 << 128), BalanceTooBig, "less than 2\\^128"),
        (BasicData(balance_wei=-1), BalanceTooBig, "-1 wei"),
        (BasicData(nonce=1 << 64), NonceUnfit, "less than 2\\^64"),
        (BasicData(nonce=-1), NonceUnfit, "is -1"),
        (BasicData(code_size=1 << 24), CodeTooBig, "less than 2\\^24"),
        (BasicData(code_size=-1), CodeTooBig, "-1 bytes"),
    ],
)
def test_what_does_not_fit_is_refused(data: BasicData, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        encode_basic_data(ADDRESS, data)


def listed_chunks(code: bytes) -> list[bytes]:
    """EIP-7864's own way: for each byte how much data of a PUSH begins there."""
    data_from = [0] * (len(code) + 64)
    at = 0
    while at < len(code):
        size = code[at] - 0x5F if 0x60 <= code[at] <= 0x7F else 0
        for offset in range(size):
            data_from[at + 1 + offset] = size - offset
        at += 1 + size
    padded = code.ljust(-(-len(code) // 31) * 31, b"\x00")
    return [
        bytes([min(data_from[begin], 31)]) + padded[begin : begin + 31]
        for begin in range(0, len(padded), 31)
    ]


def test_a_push_over_two_chunks_is_said_in_both() -> None:
    code = bytes(30) + b"\x7f" + b"\xaa" * 32 + b"\x01"
    assert [chunk[0] for chunk in chunkify(code)] == [0, 31, 1]
    assert chunkify(code)[2] == b"\x01\xaa\x01" + bytes(29)


def test_code_without_pushes_has_no_data() -> None:
    assert chunkify(b"") == []
    assert chunkify(b"\x01" * 31) == [b"\x00" + b"\x01" * 31]
    assert chunkify(b"\x01" * 32)[1] == b"\x00\x01" + bytes(30)


@pytest.mark.parametrize("seed", range(60))
def test_chunks_are_those_of_the_definition(seed: int) -> None:
    chance = random.Random(seed)
    opcodes = [0x5F, 0x60, 0x61, 0x7E, 0x7F, 0x80, 0x01]
    code = bytes(chance.choices(opcodes, k=chance.randint(0, 200)))
    chunks = chunkify(code)
    assert chunks == listed_chunks(code)
    assert len(chunks) == chunk_count(len(code))
    assert b"".join(chunk[1:] for chunk in chunks)[: len(code)] == code
