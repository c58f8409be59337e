"""Laws of keys: which places an account has. The vectors hold the very bytes."""

import pytest

from laneway.ubt.keys import (
    MAIN_STORAGE,
    KeyKind,
    basic_data_key,
    chunk_key,
    code_hash_key,
    is_shadowed,
    slot_key,
    slot_place,
    stem_of,
    touched_chunk,
    touched_slot,
)
from laneway.ubt.limits import CODE_INDEX_MAX, CODE_SIZE_MAX
from laneway.ubt.profile import EIP7864_2025, GETH, JAM, PROFILES, TreeProfile

ADDRESS = b"\x42" * 20
ALL = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)


@ALL
def test_the_header_holds_data_hash_first_slots_and_first_chunks(profile: TreeProfile) -> None:
    stem = stem_of(profile, ADDRESS, 0)
    assert basic_data_key(profile, ADDRESS) == stem + b"\x00"
    assert code_hash_key(profile, ADDRESS) == stem + b"\x01"
    assert [slot_key(profile, ADDRESS, slot) for slot in (0, 63)] == [
        stem + b"\x40",
        stem + b"\x7f",
    ]
    assert [chunk_key(profile, ADDRESS, at) for at in (0, 127)] == [stem + b"\x80", stem + b"\xff"]


@ALL
def test_what_does_not_fit_there_stands_in_groups_of_256(profile: TreeProfile) -> None:
    first = stem_of(profile, ADDRESS, 1)
    assert chunk_key(profile, ADDRESS, 128) == first + b"\x00"
    assert chunk_key(profile, ADDRESS, 383) == first + b"\xff"
    main = stem_of(profile, ADDRESS, MAIN_STORAGE)
    assert slot_key(profile, ADDRESS, 64) == main + b"\x40"
    assert slot_key(profile, ADDRESS, 255) == main + b"\xff"
    assert slot_key(profile, ADDRESS, 256) == stem_of(profile, ADDRESS, MAIN_STORAGE + 1) + b"\x00"


def test_a_profile_says_how_long_an_index_is_and_in_which_order() -> None:
    digest = JAM.key_hasher(bytes(12) + ADDRESS + bytes(30) + b"\x07").digest()
    assert stem_of(JAM, ADDRESS, 7) == digest[:31]
    digest = EIP7864_2025.key_hasher(bytes(12) + ADDRESS + b"\x07" + bytes(31)).digest()
    assert stem_of(EIP7864_2025, ADDRESS, 7) == digest[:31]
    digest = GETH.key_hasher(bytes(12) + ADDRESS + bytes(31) + b"\x07").digest()
    assert stem_of(GETH, ADDRESS, 7) == digest[:31]


def test_a_slot_whose_number_wraps_into_header_or_code_is_named() -> None:
    wrapping = 0xFF << 248
    last = wrapping + (CODE_INDEX_MAX << 8) + 255
    assert slot_key(JAM, ADDRESS, wrapping) == basic_data_key(JAM, ADDRESS)
    assert [is_shadowed(JAM, slot) for slot in (wrapping, wrapping + 255, last)] == [True] * 3
    others = (0, 63, 64, 255, 1 << 200, wrapping - 1, last + 1, (1 << 256) - 1)
    assert not any(is_shadowed(JAM, slot) for slot in others)
    assert not any(is_shadowed(GETH, slot) for slot in (*others, wrapping, last))
    assert slot_place(wrapping)[0] % (1 << 248) == 0


def test_the_last_chunk_of_the_largest_code_stands_in_the_last_group_of_code() -> None:
    chunks = (CODE_SIZE_MAX + 30) // 31
    last = chunk_key(JAM, ADDRESS, chunks - 1)
    assert last[:31] == stem_of(JAM, ADDRESS, CODE_INDEX_MAX)


def test_a_touched_key_says_what_it_is_the_key_of() -> None:
    chunk = touched_chunk(JAM, ADDRESS, 7)
    assert (chunk.key, chunk.kind) == (chunk_key(JAM, ADDRESS, 7), KeyKind.CODE_CHUNK)
    assert (chunk.address, chunk.chunk, chunk.slot) == (ADDRESS, 7, bytes(32))
    slot = touched_slot(JAM, ADDRESS, 258)
    assert (slot.key, slot.kind) == (slot_key(JAM, ADDRESS, 258), KeyKind.STORAGE)
    assert (slot.address, slot.chunk, slot.slot) == (ADDRESS, 0, bytes(30) + b"\x01\x02")
