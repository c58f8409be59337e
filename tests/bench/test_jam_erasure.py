"""The erasure code as a contestant: payload and shards follow from the question alone."""

from hashlib import sha256, shake_256

from laneway.jam.erasure import encode
from laneway.jam.spec import FULL
from laneway_bench.jam.erasure import chosen, measure, seconds


def test_as_many_shards_are_chosen_as_are_needed_and_always_the_same() -> None:
    assert chosen(1) == chosen(1) != chosen(2)
    assert len(set(chosen(1))) == FULL.recovery_count
    assert set(chosen(1)) <= set(range(FULL.validator_count))
    assert any(index >= FULL.recovery_count for index in chosen(1))


def test_the_digest_is_of_all_shards_and_of_the_data_that_came_back() -> None:
    found = measure({"bytes": 600_000, "seed": 3})
    data = shake_256(b"laneway payload 3").digest(600_000)
    shards = b"".join(encode(FULL, data))
    back = shards[: len(shards) // FULL.validator_count * FULL.recovery_count]
    assert found["digest"] == sha256(shards + back).hexdigest()
    assert found["encode_s"] > 0
    assert found["decode_s"] > 0


def test_the_best_of_some_times_counts() -> None:
    calls: list[int] = []
    assert 0 <= seconds(5, lambda: calls.append(1)) < 1
    assert len(calls) == 5
