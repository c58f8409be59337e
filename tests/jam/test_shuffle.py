"""Laws of the shuffle: nothing is lost, and the hash alone decides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.jam.hashing import blake2b
from laneway.jam.shuffle import draws, shuffled

ENTROPY = bytes(range(32))


@given(st.lists(st.integers(), max_size=40), st.binary(min_size=32, max_size=32))
def test_a_shuffle_loses_and_invents_nothing(items: list[int], entropy: bytes) -> None:
    found = shuffled(items, entropy)
    assert sorted(found) == sorted(items)
    assert found == shuffled(tuple(items), entropy)


@given(st.lists(st.integers(), max_size=40), st.binary(min_size=32, max_size=32))
def test_a_shuffle_is_what_appendix_f_defines_by_recursion(items: list[int], h: bytes) -> None:
    def defined(left: list[int], numbers: list[int]) -> list[int]:
        if not left:
            return []
        at = numbers[0] % len(left)
        rest = [*left[:at], left[-1], *left[at + 1 :]][: len(left) - 1]
        return [left[at], *defined(rest, numbers[1:])]

    assert list(shuffled(items, h)) == defined(items, draws(h, len(items)))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 1023])
def test_draws_are_the_words_of_hashes_of_the_entropy_and_a_counter(count: int) -> None:
    hashes = b"".join(blake2b(ENTROPY + n.to_bytes(4, "little")) for n in range(128))
    words = [int.from_bytes(hashes[4 * i : 4 * i + 4], "little") for i in range(count)]
    assert draws(ENTROPY, count) == words


def test_the_given_order_is_left_as_it_was() -> None:
    items = list(range(9))
    shuffled(items, ENTROPY)
    assert items == list(range(9))
