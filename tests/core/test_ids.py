"""Names of lanes, intents and owners."""

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.core.errors import BadRequest
from laneway.core.ids import (
    ENTROPY_BYTES,
    idempotency_key,
    intent_id,
    is_intent_id,
    lane_id,
    lane_key,
    lane_kind,
)
from laneway.core.limits import KEY_CHARS_MAX, LANE_ID_CHARS_MAX


def test_a_lane_id_is_its_kind_and_its_key() -> None:
    lane = lane_id("contract", "Qm1")
    assert lane == "contract:Qm1"
    assert lane_kind(lane) == "contract"
    assert lane_key(lane) == "Qm1"


def test_a_key_may_hold_colons_and_the_kind_may_not() -> None:
    lane = lane_id("evm", "1:0xabc")
    assert lane_kind(lane) == "evm"
    assert lane_key(lane) == "1:0xabc"


@pytest.mark.parametrize("key", ["", "a b", "a/b", "ü", "a\n", "\x7f", "x" * 200])
def test_a_lane_key_that_cannot_be_typed_or_printed_is_refused(key: str) -> None:
    with pytest.raises(BadRequest) as caught:
        lane_id("contract", key)
    assert caught.value.field == "lane"


def test_a_lane_id_may_be_as_long_as_its_limit() -> None:
    key = "x" * (LANE_ID_CHARS_MAX - len("contract:"))
    assert len(lane_id("contract", key)) == LANE_ID_CHARS_MAX


@pytest.mark.parametrize("key", ["", "x" * (KEY_CHARS_MAX + 1), "a\x1fb", "\ud800"])
def test_an_idempotency_key_that_no_index_could_hold_is_refused(key: str) -> None:
    with pytest.raises(BadRequest):
        idempotency_key(key)


@pytest.mark.parametrize("key", ["order-7", "Bestellung ä", "x" * KEY_CHARS_MAX])
def test_an_idempotency_key_comes_back_unchanged(key: str) -> None:
    assert idempotency_key(key) == key


@settings(deadline=None, derandomize=True, database=None)
@given(born_ms=st.integers(0, 2**48 - 1), entropy=st.binary(min_size=10, max_size=10))
def test_an_intent_id_is_a_version_7_uuid_without_a_colon(born_ms: int, entropy: bytes) -> None:
    name = intent_id(born_ms, entropy)
    assert ":" not in name
    head, _, digits = name.partition("_")
    uuid = UUID(hex=digits)
    assert head == "tx"
    assert uuid.version == 7
    assert uuid.variant == "specified in RFC 4122"
    assert uuid.int >> 80 == born_ms


def test_ids_of_later_births_sort_behind_earlier_ones() -> None:
    full = b"\xff" * ENTROPY_BYTES
    assert intent_id(1, full) < intent_id(2, b"\0" * ENTROPY_BYTES)


def test_an_id_takes_exactly_its_entropy() -> None:
    with pytest.raises(AssertionError):
        intent_id(1, b"short")


@pytest.mark.parametrize("text", [None, "", "key:b", "tx_", "tx_nonsense", "TX_" + "0" * 32])
def test_what_is_no_intent_id_is_known(text: object) -> None:
    assert not is_intent_id(text)
    assert is_intent_id(intent_id(7, bytes(ENTROPY_BYTES)))
