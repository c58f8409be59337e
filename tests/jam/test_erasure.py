"""Laws of the erasure code: shards are values of one polynomial, and any R of them are enough."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from laneway.jam.erasure import decode, decode_together, encode, encode_together
from laneway.jam.errors import InconsistentShards, TooFewShards
from laneway.jam.field import ORDER, product, scaled, tables
from laneway.jam.limits import PLANES_WORDS_MIN, PRODUCTS_AT_ONCE_MAX
from laneway.jam.spec import FULL, TINY, ChainSpec


def sized(recovery: int, validators: int) -> ChainSpec:
    return replace(TINY, recovery_count=recovery, validator_count=validators)


SMALL = [TINY, sized(1, 3), sized(2, 4), sized(3, 8), sized(5, 20), sized(8, 9)]
specs = st.sampled_from(SMALL)


def quotient(a: int, b: int) -> int:
    return int(scaled(np.array([a], np.uint16), ORDER - tables().log[[b]])[0])


def value_at(point: int, values: list[int]) -> int:
    """Of the polynomial with these values at 0, 1, …, as Lagrange words it."""
    found = 0
    for here, value in enumerate(values):
        for other in range(len(values)):
            if other != here:
                value = quotient(product(value, point ^ other), here ^ other)
        found ^= value
    return found


def defined(spec: ChainSpec, data: bytes) -> list[bytes]:
    """The code as its definition has it."""
    words = -(-len(data) // spec.piece_bytes)
    data = data.ljust(words * spec.piece_bytes, b"\0")
    shards = [data[at : at + 2 * words] for at in range(0, len(data), 2 * words)]
    first = 1
    while first < spec.recovery_count:
        first *= 2
    for point in range(first, first + spec.validator_count - spec.recovery_count):
        shard = b""
        for at in range(0, 2 * words, 2):
            column = [int.from_bytes(one[at : at + 2], "little") for one in shards]
            values = column[: spec.recovery_count] + [0] * (first - spec.recovery_count)
            shard += value_at(point, values).to_bytes(2, "little")
        shards.append(shard)
    return shards


def taken(spec: ChainSpec, shards: tuple[bytes, ...], seed: int) -> list[tuple[int, bytes]]:
    return Random(seed).sample(list(enumerate(shards)), spec.recovery_count)


@pytest.mark.parametrize("spec", SMALL)
def test_shards_are_values_of_the_polynomial_through_the_originals(spec: ChainSpec) -> None:
    data = Random(1).randbytes(2 * spec.piece_bytes - 1)
    assert list(encode(spec, data)) == defined(spec, data)


def test_a_full_chains_last_shard_is_a_value_of_the_polynomial() -> None:
    data = Random(2).randbytes(FULL.piece_bytes)
    values = [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]
    logs = tables().log.astype(np.int64)
    last = 512 + 680
    found = 0
    for here, value in enumerate(values):
        others = np.delete(np.arange(512), here)
        factor = int((logs[others ^ last] - logs[others ^ here]).sum()) % ORDER
        found ^= int(scaled(np.array([value], np.uint16), np.array([factor], np.int32))[0])
    assert encode(FULL, data)[-1] == found.to_bytes(2, "little")


@pytest.mark.parametrize("spec", [TINY, FULL])
@pytest.mark.parametrize("length", [0, 1, 684, 4_104])
def test_the_first_shards_are_the_data(spec: ChainSpec, length: int) -> None:
    data = Random(length).randbytes(length)
    shards = encode(spec, data)
    assert len(shards) == spec.validator_count
    assert len({len(shard) for shard in shards}) == 1
    joined = b"".join(shards[: spec.recovery_count])
    assert joined.rstrip(b"\0") == data.rstrip(b"\0")
    assert 0 <= len(joined) - length < spec.piece_bytes


@settings(max_examples=50)
@given(specs, st.binary(max_size=80), st.integers(0, 2**32))
def test_any_shards_that_are_enough_give_the_data_back(
    spec: ChainSpec, data: bytes, seed: int
) -> None:
    found = decode(spec, taken(spec, encode(spec, data), seed))
    assert found[: len(data)] == data
    assert not any(found[len(data) :])


@settings(max_examples=5, deadline=None)
@given(st.binary(max_size=5_000), st.integers(0, 2**32))
def test_any_342_of_1023_shards_give_the_data_back(data: bytes, seed: int) -> None:
    found = decode(FULL, taken(FULL, encode(FULL, data), seed))
    assert found[: len(data)] == data


@pytest.mark.parametrize("spec", [TINY, FULL])
def test_the_originals_alone_and_the_others_alone_give_the_data_back(spec: ChainSpec) -> None:
    data = Random(3).randbytes(2_000)
    shards = list(enumerate(encode(spec, data)))
    for some in (shards[: spec.recovery_count], shards[-spec.recovery_count :]):
        assert decode(spec, some)[: len(data)] == data
        assert decode(spec, reversed(some))[: len(data)] == data


@pytest.mark.parametrize(
    ("spec", "words"),
    [(TINY, PRODUCTS_AT_ONCE_MAX + 100), (FULL, 1_500), (FULL, PLANES_WORDS_MIN + 1)],
)
def test_long_payloads_are_coded_word_by_word_like_short_ones(spec: ChainSpec, words: int) -> None:
    data = Random(4).randbytes(spec.piece_bytes * words)
    shards = encode(spec, data)
    for begin in (0, 2 * words // 4, 2 * words - 20):
        cut = [shard[begin : begin + 20] for shard in shards]
        assert encode(spec, b"".join(cut[: spec.recovery_count])) == tuple(cut)
    assert decode(spec, taken(spec, shards, 6)) == data


@pytest.mark.parametrize("spec", [TINY, FULL])
def test_parts_that_are_coded_together_are_coded_each_for_itself(spec: ChainSpec) -> None:
    random = Random(5)
    parts = [random.randbytes(4_104) for _ in range(3)]
    together = encode_together(spec, parts)
    for place, part in enumerate(parts):
        assert tuple(shards[place] for shards in together) == encode(spec, part)
    some = random.sample(list(enumerate(together)), spec.recovery_count)
    assert decode_together(spec, some) == tuple(parts)


def test_callers_in_several_threads_do_not_disturb_each_other() -> None:
    payloads = [Random(seed).randbytes(30_000) for seed in range(8)]
    alone = [encode(FULL, data) for data in payloads]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda data: encode(FULL, data), payloads))
        given = [taken(FULL, shards, 1) for shards in together]
        back = list(threads.map(lambda shards: decode(FULL, shards), given))
    assert together == alone
    assert [data[:30_000] for data in back] == payloads


def test_no_parts_are_coded_to_no_shards() -> None:
    together = encode_together(TINY, ())
    assert together == ((),) * 6
    assert decode_together(TINY, enumerate(together)) == ()


def test_parts_of_several_lengths_are_not_coded_together() -> None:
    with pytest.raises(InconsistentShards, match="several lengths"):
        encode_together(TINY, [b"four", b"five5"])


def test_shards_beyond_those_that_are_needed_are_not_looked_into() -> None:
    shards = list(encode(TINY, b"some data"))
    shards[5] = bytes(len(shards[5]))
    assert decode(TINY, enumerate(shards)).rstrip(b"\0") == b"some data"


def test_the_same_shard_twice_counts_once() -> None:
    first, *_, last = enumerate(encode(TINY, b"some data"))
    assert decode(TINY, [last, first, last]).rstrip(b"\0") == b"some data"
    with pytest.raises(TooFewShards) as raised:
        decode(TINY, [last, last])
    assert raised.value.operands == {"given": 1, "needed": 2}


def test_too_few_shards_are_refused() -> None:
    shards = list(enumerate(encode(FULL, b"some data")))
    with pytest.raises(TooFewShards, match="341 distinct shards"):
        decode(FULL, shards[-341:])
    with pytest.raises(TooFewShards):
        decode(TINY, [])
    with pytest.raises(TooFewShards):
        decode_together(TINY, [])


@pytest.mark.parametrize(
    ("shards", "problem"),
    [
        ([(0, b"ab"), (1, b"abcd")], "some have 2 bytes and some 4"),
        ([(0, b"abc"), (1, b"abc")], "3 bytes are no whole words"),
        ([(0, b"ab"), (6, b"ab")], "6 is no index below 6"),
        ([(0, b"ab"), (-1, b"ab")], "-1 is no index below 6"),
        ([(0, b"ab"), (1, b"ab"), (0, b"cd")], "shard 0 comes twice"),
    ],
)
def test_shards_of_no_one_encoding_are_refused(
    shards: list[tuple[int, bytes]], problem: str
) -> None:
    with pytest.raises(InconsistentShards, match=problem):
        decode(TINY, shards)
    with pytest.raises(InconsistentShards):
        decode_together(TINY, [(index, (shard,)) for index, shard in shards])


@pytest.mark.parametrize(
    ("shards", "problem"),
    [
        ([(0, (b"ab", b"ab")), (1, (b"ab",))], "index 1 has other than 2 shards of 2 bytes"),
        ([(0, (b"ab", b"abcd")), (1, (b"ab", b"abcd"))], "index 0 has other than 2 shards of 2"),
        ([(0, (b"a", b"b")), (1, (b"a", b"b"))], "1 bytes are no whole words"),
    ],
)
def test_indices_that_do_not_have_the_same_parts_are_refused(
    shards: list[tuple[int, tuple[bytes, ...]]], problem: str
) -> None:
    with pytest.raises(InconsistentShards, match=problem):
        decode_together(TINY, shards)
