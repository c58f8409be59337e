"""Laws of JIP-2's values and calls, as they are written and read."""

from typing import Any

import pytest
from msgspec import Raw, json

from laneway.wire import jip2
from laneway.wire.jip2 import (
    CALLS,
    SUBSCRIPTIONS,
    blob,
    call,
    hash_in,
    leaving,
    read_blob,
    read_hash,
    read_number,
)
from laneway.wire.jsonrpc import RpcError

HASH = bytes(range(32))
TEXT = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def test_bytes_are_padded_base64() -> None:
    assert blob(HASH) == TEXT
    assert blob(b"") == ""
    assert blob(b"\xff") == "/w=="
    for data in (b"", b"\xff", b"ab", b"abc", HASH):
        assert read_blob(blob(data)) == data


def test_bytes_may_be_numbers_as_older_nodes_write_them() -> None:
    assert read_blob([1, 2, 255]) == b"\x01\x02\xff"
    assert read_blob({"0": 1, "1": 2}) == b"\x01\x02"
    assert read_blob([]) == b""


@pytest.mark.parametrize(
    "wrong",
    ["AA", "A", "AA=A", "A A=", "_-==", 7, None, True, [256], [-1], [True], {"1": 1}, {"0": "a"}],
)
def test_what_is_no_blob_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        read_blob(wrong)


def test_a_hash_has_32_bytes_in_base64_or_hexadecimal() -> None:
    assert read_hash(TEXT) == read_hash("0x" + HASH.hex()) == read_hash(list(HASH)) == HASH
    for wrong in (TEXT[:-4], "0x" + "zz" * 32, "0x" + "00" * 31, "", None):
        with pytest.raises(ValueError):
            read_hash(wrong)


def test_a_number_is_a_natural() -> None:
    assert read_number(7) == 7
    for wrong in (-1, True, 1.0, "1", None, 1 << 32):
        with pytest.raises(ValueError):
            read_number(wrong)


def test_a_call_is_written_by_the_kinds_of_its_parameters() -> None:
    assert call("bestBlock").params == []
    assert call("serviceValue", HASH, 7, b"w").params == [TEXT, 7, "dw=="]
    assert call("submitWorkPackage", 1, b"p", [b"a", b""]).params == [1, "cA==", ["YQ==", ""]]
    assert call("fetchSegments", HASH, (1, 2)).params == [TEXT, [1, 2]]
    assert call("subscribeWorkPackageStatus", HASH, HASH, False).params == [TEXT, TEXT, False]
    key = bytes(31)
    assert call("stateProof", HASH, [key], [(b"", b"a")], "none", 9).params == [
        TEXT,
        [blob(key)],
        [["", "YQ=="]],
        "none",
        9,
    ]


def test_a_call_that_is_not_whole_is_a_bug() -> None:
    with pytest.raises(ValueError):
        call("parent")
    with pytest.raises(AssertionError):
        call("parent", b"short")
    with pytest.raises(KeyError):
        call("nope")


def test_every_subscription_is_left_by_its_own_method() -> None:
    for method in SUBSCRIPTIONS:
        assert leaving(method) == "un" + method
    with pytest.raises(AssertionError):
        leaving("bestBlock")


def test_every_writer_of_parameters_is_used() -> None:
    used = {write for writers in (*CALLS.values(), *SUBSCRIPTIONS.values()) for write in writers}
    assert used == {jip2.HASH, jip2.STATE_KEY, jip2.STATE_KEYS, jip2.BLOBS, jip2.pairs} | {
        blob, int, bool, list, str,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (TEXT, HASH),
        (list(HASH), HASH),
        ({str(place): byte for place, byte in enumerate(HASH)}, HASH),
        ("0x" + HASH.hex(), HASH),
        (None, None),
        ("short", None),
        ({"some": "thing"}, None),
    ],
)
def test_an_error_may_say_what_it_is_about(data: Any, found: bytes | None) -> None:
    assert hash_in(RpcError(1, "", Raw(json.encode(data)))) == found


def test_an_error_that_is_no_json_is_about_nothing() -> None:
    assert hash_in(RpcError(1, "", Raw(b"{"))) is None
