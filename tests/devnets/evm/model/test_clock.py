"""The time of blocks, by anvil's rules."""

from laneway.devnets.evm.model.clock import BlockClock

NOW = 1_000_500
"""Half a second into second 1,000."""


def test_a_block_is_of_the_machines_time() -> None:
    clock = BlockClock(0)
    assert clock.next_ms(NOW) == clock.take(NOW) == NOW
    assert clock.take(NOW + 7) == NOW + 7


def test_no_block_is_older_than_the_one_before_it() -> None:
    clock = BlockClock(0)
    clock.take(NOW)
    assert clock.take(NOW - 100) == NOW, "in one second it is the same time"
    assert clock.take(NOW - 5_000) == NOW + 1_000, "else a second later"
    clock.follow(NOW + 60_000)
    assert clock.take(NOW) == NOW + 61_000


def test_time_moves_on_by_all_that_it_was_increased_by() -> None:
    clock = BlockClock(0)
    assert clock.increase(1_000) == 1_000
    assert clock.increase(16) == 1_016
    assert clock.take(NOW) == NOW + 1_016_000


def test_a_chosen_time_is_the_next_blocks_and_time_goes_on_from_it() -> None:
    clock = BlockClock(0)
    clock.take(NOW)
    assert not clock.set_next(999)
    assert clock.take(NOW) == NOW, "what is refused changes nothing"
    assert clock.set_next(1_000)
    assert clock.set_next(5_000)
    assert clock.next_ms(NOW) == 5_000_000, "looking takes nothing"
    assert clock.take(NOW) == 5_000_000
    assert clock.take(NOW + 3_000) == 5_003_000


def test_with_an_interval_the_machines_time_counts_for_nothing() -> None:
    clock = BlockClock(0)
    clock.take(NOW)
    clock.interval_s = 100
    assert clock.take(NOW) == NOW + 100_000
    clock.increase(7)
    assert clock.take(NOW + 50) == NOW + 200_000
    assert clock.set_next(2_000)
    assert clock.take(NOW) == 2_000_000, "a chosen time comes first"


def test_now_may_be_any_time_even_before_the_newest_block() -> None:
    clock = BlockClock(0)
    clock.take(NOW)
    assert clock.set_now(NOW + 3_000_000, NOW) == 3_000
    assert clock.take(NOW) == NOW + 3_000_000
    clock.set_next(9_000)
    assert clock.set_now(5_000, NOW) == 0
    assert clock.take(NOW + 10) == 5_010
