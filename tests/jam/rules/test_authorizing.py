"""Laws of the authorizer pools: a report uses one up, and every block brings one."""

from hypothesis import given
from hypothesis import strategies as st
from tests.jam.rules.stage import AUTHORIZER, package, report

from laneway.jam.rules.authorizing import next_pools

QUEUE = tuple(package(f"queued {place}") for place in range(80))
OTHER = package("other")


def test_every_block_takes_the_authorizer_whose_turn_it_is() -> None:
    assert next_pools(((), (OTHER,)), (QUEUE, QUEUE), [], 0) == ((QUEUE[0],), (OTHER, QUEUE[0]))
    assert next_pools(((),), (QUEUE,), [], 80 * 7 + 3) == ((QUEUE[3],),)


def test_the_oldest_of_a_full_pool_gives_way() -> None:
    assert next_pools((QUEUE[:8],), (QUEUE,), [], 20) == ((*QUEUE[1:8], QUEUE[20]),)


def test_a_report_uses_up_one_entry_of_its_authorizer_on_its_core() -> None:
    pool = (OTHER, AUTHORIZER, AUTHORIZER)
    after = next_pools((pool, pool), (QUEUE, QUEUE), [report(core=1)], 5)
    assert after == ((*pool, QUEUE[5]), (OTHER, AUTHORIZER, QUEUE[5]))


@given(st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_a_pool_grows_to_eight_and_no_further(count: int, slot: int) -> None:
    (pool,) = next_pools((QUEUE[:count],), (QUEUE,), [], slot)
    assert len(pool) == min(count + 1, 8)
    assert pool[-1] == QUEUE[slot % 80]
