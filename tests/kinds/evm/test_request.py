"""Laws of an account's request at the edge: read as written, and refused where it cannot be."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.errors import BadRequest
from laneway.core.limits import PAYLOAD_BYTES_MAX
from laneway.core.units import value
from laneway.kinds.evm.request import (
    address,
    checksummed,
    decode,
    encode,
    encoded,
    payload_of,
    request_from,
    request_of,
)
from laneway.wire.evm import EvmAccess, EvmAuthorization, EvmBlobs, EvmPayload
from laneway.wire.evm_words import evm_payload

TO = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
KEY = "0x" + "22" * 32
AUTHORIZATION = EvmAuthorization(
    chain_id="1", address=TO, nonce="7", y_parity=1, r=str(1 << 255), s="3"
)
replace = msgspec.structs.replace


def test_addresses_are_checked_by_their_letters() -> None:
    """The examples of EIP-55."""
    for said in (
        TO,
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ):
        assert checksummed(address(said, "to")) == said
        assert address(said.lower(), "to") == address("0x" + said[2:].upper(), "to")
        wrong = said[:-1] + said[-1].swapcase() if said[-1].isalpha() else said.replace("B", "b")
        with pytest.raises(BadRequest, match="would be right"):
            address(wrong, "to")


@given(st.integers(0, (1 << 256) - 1), st.binary(max_size=64), st.integers(60_000, 1 << 40))
def test_what_is_shown_says_what_was_asked(wei: int, data: bytes, gas: int) -> None:
    asked = EvmPayload(
        to=TO,
        value=str(wei),
        data="0x" + data.hex(),
        gas=str(gas),
        type=4,
        max_fee_per_gas="9",
        max_priority_fee_per_gas="3",
        max_cost=str(wei),
        access_list=[EvmAccess(TO, [KEY])],
        authorization_list=[AUTHORIZATION],
    )
    request = request_of(asked, "trace")
    assert payload_of(decode(encode(request))) == asked
    assert value(request.value_wei) == wei
    hexadecimal = replace(asked, value=hex(wei), gas=hex(gas), max_cost=hex(wei))
    assert request_of(hexadecimal, "trace") == request


def blobs(count: int = 1, version: int = 0, proofs: int = 1) -> EvmBlobs:
    blob, point = "0x" + "00" * 131_072, "0x" + "11" * 48
    return EvmBlobs(
        blobs=[blob] * count,
        commitments=[point] * count,
        proofs=[point] * proofs,
        version=version,
        max_fee_per_blob_gas="5",
    )


def test_blobs_are_named_by_their_commitments() -> None:
    carried = request_of(EvmPayload(to=TO, blobs=blobs(2, proofs=2))).blobs
    assert carried is not None
    assert [one[:1] for one in carried.hashes] == [b"\x01"] * 2
    assert len(carried.hashes[0]) == 32
    assert value(carried.fee_wei_max) == 5
    assert request_of(EvmPayload(to=TO, blobs=blobs(1, 1, 128))).blobs is not None
    for wrong in (blobs(proofs=2), blobs(1, 1, 1), replace(blobs(), commitments=["0x"] * 1)):
        with pytest.raises(BadRequest, match=r"payload\.blobs"):
            request_of(EvmPayload(to=TO, blobs=wrong))
    with pytest.raises(BadRequest, match="one for each"):
        request_of(EvmPayload(to=TO, blobs=replace(blobs(), commitments=["0x" + "11" * 48] * 2)))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (EvmPayload(to=TO, type=2, blobs=blobs()), "blobs are for type 3"),
        (EvmPayload(to=TO, type=2, authorization_list=[AUTHORIZATION]), "type 4"),
        (EvmPayload(data="0x00", authorization_list=[AUTHORIZATION]), "create no contract"),
        (EvmPayload(data="0x" + "00" * 49_153), "bytes of code"),
        (EvmPayload(to="0x12"), "20 bytes"),
        (EvmPayload(to=TO, data="0xzz"), "hexadecimal"),
    ],
)
def test_what_contradicts_itself_is_refused(asked: EvmPayload, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        request_of(asked)


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        (EvmPayload(to=TO), 21_000),
        # EIP-7623: forty for a byte, ten for a zero.
        (EvmPayload(to=TO, data="0x0102"), 21_080),
        (EvmPayload(to=TO, data="0x0000"), 21_020),
        (EvmPayload(to=TO, access_list=[EvmAccess(TO, [KEY, KEY])]), 27_200),
        (EvmPayload(data="0x01"), 53_018),
        (EvmPayload(to=TO, authorization_list=[AUTHORIZATION]), 46_000),
    ],
    ids=["transfer", "data", "zeros", "access list", "creation", "authorization"],
)
def test_less_gas_than_it_costs_before_its_first_step_is_refused_at_the_door(
    asked: EvmPayload, needed: int
) -> None:
    assert request_of(replace(asked, gas=str(needed))).gas == needed
    with pytest.raises(BadRequest, match=rf"^payload\.gas.*{needed}"):
        request_of(replace(asked, gas=str(needed - 1)))


def test_a_contract_may_be_created_and_nothing_may_be_larger_than_a_payload() -> None:
    assert request_of(EvmPayload(data="0x00")).to is None
    large = request_of(EvmPayload(to=TO, data="0x" + "00" * PAYLOAD_BYTES_MAX))
    with pytest.raises(BadRequest, match="are more than"):
        encoded(large)


def test_python_says_amounts_and_bytes_in_its_own_words() -> None:
    said = evm_payload(b"\x01", {"to": bytes(20), "value": "0.5 ether", "max_cost": 7, "gas": None})
    assert (said.data, said.to, said.value) == ("0x01", "0x" + "00" * 20, str(5 * 10**17))
    assert (said.max_cost, said.gas) == ("7", None)
    assert evm_payload(None, {"value": "0xff"}).value == "0xff"


class Traced(bytes):
    """Bytes that cannot be written as a text."""

    def hex(self, *_: object) -> str:
        raise AssertionError("these are bytes, and nobody has to read them from a text")


def test_the_librarys_values_are_never_written_as_texts_to_be_read_again() -> None:
    data, to = Traced(b"\x01\x02"), Traced(bytes(19) + b"\x07")
    asked = request_from({"to": to, "data": data, "value": 10**18, "gas": 50_000, "max_cost": None})
    assert (asked.to, asked.input, asked.gas) == (bytes(to), bytes(data), 50_000)
    assert value(asked.value_wei) == 10**18
    said = {"to": "0x" + "00" * 19 + "07", "data": "0x0102", "value": "1 ether", "gas": "0xc350"}
    assert request_from(said) == asked


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"value": -1}, "request.value"),
        ({"value": 0.5}, "request.value"),
        ({"value": True}, "request.value"),
        ({"value": 1 << 256}, "request.value"),
        ({"value": "a lot"}, "amount"),
        ({"gas": "many"}, "request.gas"),
        ({"gas": 1 << 63}, "request.gas"),
        ({"to": bytes(19)}, "request.to"),
        ({"to": 5}, "request.to"),
        ({"data": "xyz"}, "request.data"),
        ({"data": 5}, "request.data"),
    ],
)
def test_a_value_of_the_library_that_is_none_is_named(options: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        request_from({"to": bytes(20)} | options)
    assert refused.value.field == field


def test_an_option_that_there_is_not_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="gass"):
        request_from({"to": bytes(20), "gass": 5})
