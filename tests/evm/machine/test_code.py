"""Code as the machine reads it."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from laneway.evm.machine.code import STEP_BYTES, CodeCache, Destinations, EvmCode, weight


def plain_destinations(raw: bytes) -> set[int]:
    """The rule of the Yellow Paper, one byte after the other."""
    found, at = set(), 0
    while at < len(raw):
        if raw[at] == 0x5B:
            found.add(at)
        at += raw[at] - 0x5E if 0x60 <= raw[at] <= 0x7F else 1
    return found


CODES = st.lists(
    st.tuples(
        st.sampled_from([0x5B, 0x60, 0x61, 0x7F, 0x00, 0x0A, 0x80]),
        st.sampled_from([1, 2, 3, 31, 32, 33, STEP_BYTES]),
    ).map(lambda run: bytes(run[:1]) * run[1])
).map(b"".join)


@given(CODES, st.randoms(use_true_random=False))
def test_a_destination_is_no_operand_of_a_push(raw: bytes, chance: Random) -> None:
    places = list(range(len(raw) + 2))
    chance.shuffle(places)
    destinations = Destinations(raw)
    assert {to for to in places if destinations[to]} == plain_destinations(raw)
    assert destinations.all() == sorted(plain_destinations(raw))


def test_destinations_are_found_when_they_are_asked_for_and_no_earlier() -> None:
    code = EvmCode(bytes.fromhex("605b5b") + bytes(STEP_BYTES) + b"\x5b")
    assert not code.destinations
    assert not code.destinations[1 << 255]
    assert not code.destinations[0]
    assert code.destinations == {}, "what cannot be one is not kept"
    assert code.destinations[2]
    assert not code.destinations[1]
    assert code.destinations == {2: True, 1: False}


def test_a_push_at_the_end_of_the_code_reads_zeros() -> None:
    code = EvmCode(bytes.fromhex("615b"))
    assert code.pushes[0] == code.pushes[0] == 0x5B00
    assert EvmCode(bytes.fromhex("5f")).pushes[0] == 0


def test_code_is_analysed_once_while_it_is_kept() -> None:
    cache = CodeCache(3 * weight(b"\x00"))
    first = cache.get(b"1", b"\x00")
    assert cache.get(b"1", b"\x00") is first
    for name in (b"2", b"3", b"4"):
        cache.get(name, b"\x00")
    assert len(cache) == 2, "the half that came first made place"
    assert cache.get(b"1", b"\x00") is not first


def test_one_code_that_is_larger_than_the_cache_is_still_given() -> None:
    cache = CodeCache(10)
    assert cache.get(b"1", bytes(100)).raw == bytes(100)
    assert cache.get(b"2", bytes(100)).raw == bytes(100)
    assert len(cache) <= 1


def test_code_that_was_compiled_longest_ago_loses_what_is_compiled() -> None:
    cache = CodeCache(text_bytes_max=100)
    first, second = cache.get(b"1", b"\x00"), cache.get(b"2", b"\x01")
    first.compiled = second.compiled = "functions"
    cache.compiled(first, 60)
    cache.compiled(second, 30)
    cache.compiled(first, 10)
    assert (first.compiled, second.compiled) == ("functions", "functions")
    cache.compiled(first, 5)
    assert (first.compiled, second.compiled) == ("functions", None)
    cache.compiled(first, 500)
    assert first.compiled == "functions", "one code alone has a bound of its own"


def test_code_that_leaves_the_cache_leaves_nothing_compiled() -> None:
    cache = CodeCache(2 * weight(b"\x00"), 100)
    first = cache.get(b"1", b"\x00")
    first.compiled = "functions"
    cache.compiled(first, 60)
    cache.get(b"2", b"\x00")
    cache.get(b"3", b"\x00")
    assert first.compiled is None
