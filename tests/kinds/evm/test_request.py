"""Laws of an account's request at the edge: read as written, and refused where it cannot be."""

import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.errors import BadRequest
from laneway.core.limits import PAYLOAD_BYTES_MAX
from laneway.core.units import value
from laneway.evm.abi.addresses import checksummed, read_address
from laneway.kinds.evm.request import (
    bare,
    decode,
    encode,
    encoded,
    payload_of,
    request_from,
    request_of,
)
from laneway.ports import EvmRequest, EvmWords
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
        assert checksummed(read_address(said, "to")) == said
        assert read_address(said.lower(), "to") == read_address("0x" + said[2:].upper(), "to")
        wrong = said[:-1] + said[-1].swapcase() if said[-1].isalpha() else said.replace("B", "b")
        with pytest.raises(BadRequest, match="would be right"):
            read_address(wrong, "to")


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


CALL = "a9059cbb" + TO[2:].lower().rjust(64, "0") + "5".rjust(64, "0")
ABI = ["function transfer(address to, uint256 amount)", "error Poor(uint256 by)"]
AS_RELEASED = bytes.fromhex(
    "9cc4145aaeb6053f3e94c9b9a09f33669435e7ef1beaedc40105c40101c0c0c0c0c09090c0a0"
)
"""A request to TO of 5 wei and the data 0x01, as the first release wrote it."""


def test_a_request_without_words_has_the_bytes_that_it_always_had() -> None:
    """Keys stay taken by the same body, and earlier releases read it."""
    request = request_of(EvmPayload(to=TO, value="5", data="0x01"))
    assert encoded(request) == AS_RELEASED
    assert decode(AS_RELEASED) == request


def test_a_call_in_words_is_stored_encoded_beside_what_is_kept_of_its_abi() -> None:
    plain = request_of(EvmPayload(to=TO, data=f"0x{CALL}"))
    abi: list[Any] = [ABI[1], "function other()", {"type": "fallback"}, ABI[0]]
    words = request_of(EvmPayload(to=TO, call="transfer", args=[TO, "5"], abi=abi))
    assert words == replace(plain, words=EvmWords(tuple(ABI)))
    assert decode(encoded(words)) == words
    assert bare(words) == plain
    assert bare(replace(words, trace="t")) == plain
    assert bare(plain) is plain
    assert encoded(bare(words)) == encoded(plain)
    shown = payload_of(words)
    assert (shown.data, shown.abi) == (f"0x{CALL}", ABI)
    assert request_of(shown) == words, "what is shown may be sent again"


def test_a_deployment_knows_where_its_arguments_begin() -> None:
    asked = EvmPayload(deploy="0x6080", call="constructor(bool yes)", args=["true"])
    request = request_of(asked)
    assert request.input == b"\x60\x80" + (1).to_bytes(32)
    assert request.words == EvmWords(("constructor(bool yes)",), 2)
    assert request_of(EvmPayload(deploy="0x6080")) == EvmRequest(None, input=b"\x60\x80")


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (EvmPayload(to=TO, call="f(uint8)", args=[256]), r"^payload\.args\[0\]: '256' is out"),
        (EvmPayload(to=TO, call="f()", data="0x01"), r"^payload\.data: either this"),
        (EvmPayload(to=TO, args=[1]), r"^payload\.call: say which"),
        (EvmPayload(call="f()"), r"^payload\.to: a call is sent to a contract"),
        (EvmPayload(to=TO, deploy="0x00"), r"^payload\.to: a deployment has none"),
        (EvmPayload(to=TO, abi=[{"type": "what"}]), r"^payload\.abi\[0\]: 'what' is no kind"),
        (EvmPayload(deploy="0x" + "00" * 49_153), "49153 bytes of code"),
    ],
)
def test_words_that_are_wrong_are_named_with_their_place(asked: EvmPayload, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        request_of(asked)


def test_a_call_in_words_needs_its_extra_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eth_abi", None)
    with pytest.raises(BadRequest, match=r"payload\.call: .*pip install 'laneway\[abi\]'"):
        request_of(EvmPayload(to=TO, call="f(bool)", args=[True]))
    assert request_of(EvmPayload(to=TO, call="f()")).input == bytes.fromhex("26121ff0")


def test_the_library_takes_values_and_files(tmp_path: Any) -> None:
    file = tmp_path / "Token.json"
    file.write_text("\n".join(ABI))
    account, kept = bytes.fromhex(TO[2:]), EvmWords(tuple(ABI))
    wanted = EvmRequest(account, input=bytes.fromhex(CALL), words=kept)
    for source in (file, str(file), ABI, "\n".join(ABI)):
        asked = {"to": TO, "call": "transfer", "args": (account, 5), "abi": source, "data": b""}
        assert request_from(asked) == wanted
    code = tmp_path / "Token.bin"
    code.write_text("6080\n")
    assert request_from({"deploy": code}).input == request_from({"deploy": b"\x60\x80"}).input
