"""Laws of the token bucket."""

from laneway.chains.endpoint import Bucket


def test_a_burst_is_free_and_more_waits_its_turn() -> None:
    bucket = Bucket(per_s=10, burst=20, now_s=0)
    assert bucket.take(20, 0) == 0
    assert bucket.take(5, 0) == 0.5
    assert bucket.take(5, 0) == 1.0
    assert bucket.take(1, 2.0) == 0


def test_what_was_not_used_is_given_back_and_the_bucket_never_overflows() -> None:
    bucket = Bucket(per_s=1, burst=2, now_s=0)
    assert bucket.take(2, 0) == 0
    assert bucket.take(3, 0) == 3
    bucket.give_back(3)
    assert bucket.take(1, 0) == 1
    bucket.give_back(100)
    assert bucket.take(3, 100) == 1


def test_what_is_not_needed_leaves_half_of_a_burst() -> None:
    bucket = Bucket(per_s=10, burst=20, now_s=0)
    assert bucket.spares(10, 0)
    assert not bucket.spares(11, 0)
    bucket.take(15, 0)
    assert not bucket.spares(1, 0)
    assert bucket.spares(1, 1.0)
    assert bucket.take(5, 0) == 0, "to ask takes nothing"
