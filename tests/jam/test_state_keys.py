"""Laws of state keys: 31 bytes each, and no two of a kind alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.jam.components import account_service

from laneway.jam import state_keys
from laneway.jam.errors import Unencodable
from laneway.jam.hashing import blake2b
from laneway.jam.state_keys import (
    KEY_BYTES,
    account_key,
    component_key,
    preimage_key,
    request_key,
    storage_key,
)

services = st.integers(0, (1 << 32) - 1)
HASHED = bytes(range(32))


def test_a_component_stands_under_its_number() -> None:
    assert component_key(16) == b"\x10" + bytes(30)
    assert component_key(3) == state_keys.RECENT_HISTORY
    assert component_key(15) == state_keys.ACCUMULATED
    assert component_key(16) == state_keys.OUTPUTS


def test_an_account_stands_under_255_and_the_spread_service() -> None:
    assert account_key(0x04030201) == bytes([255, 1, 0, 2, 0, 3, 0, 4]) + bytes(23)


@given(services)
def test_an_account_key_tells_its_service(service: int) -> None:
    assert account_service(account_key(service)) == service


def test_other_keys_tell_no_service() -> None:
    for key in (component_key(16), storage_key(255, b"name"), account_key(7)[:-1] + b"\1", b""):
        assert account_service(key) is None


@given(services, st.binary(max_size=40))
def test_a_service_is_woven_into_the_hash_of_a_name(service: int, name: bytes) -> None:
    key = storage_key(service, name)
    hashed = blake2b(b"\xff\xff\xff\xff" + name)
    assert len(key) == KEY_BYTES
    assert key[:8:2] == service.to_bytes(4, "little")
    assert key[1:8:2] + key[8:] == hashed[:27]


def test_names_hashes_and_requests_do_not_meet() -> None:
    keys = {
        storage_key(1, HASHED),
        preimage_key(1, HASHED),
        request_key(1, HASHED, 0),
        request_key(1, HASHED, 1),
        request_key(2, HASHED, 1),
    }
    assert len(keys) == 5
    assert preimage_key(1, HASHED)[1:8:2] == blake2b(b"\xfe\xff\xff\xff" + HASHED)[:4]
    assert request_key(1, HASHED, 258)[1:8:2] == blake2b(b"\x02\x01\0\0" + HASHED)[:4]


def test_what_is_out_of_range_has_no_key() -> None:
    with pytest.raises(Unencodable, match="does not fit"):
        account_key(1 << 32)
    with pytest.raises(Unencodable, match="does not fit"):
        storage_key(-1, b"")
    with pytest.raises(Unencodable, match="3 bytes stand where 32 belong"):
        preimage_key(0, b"abc")
    with pytest.raises(Unencodable, match="3 bytes stand where 32 belong"):
        request_key(0, b"abc", 3)
    with pytest.raises(Unencodable, match="more than a service can request"):
        request_key(0, HASHED, (1 << 32) - 2)
