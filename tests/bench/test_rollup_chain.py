"""Chains that answer a driven lane: what goes in comes out, once and in order."""

from typing import Any

import pytest

from laneway.jam.spec import TINY
from laneway.lanes.bundle.records import BlockFinalised
from laneway.lanes.bundle.values import LookAtChain
from laneway_bench.rollup.chain import BLOCKS_KEPT_MAX, StubChain
from laneway_bench.rollup.cores import Cores, measure
from laneway_bench.rollup.cores import settings as core_settings
from laneway_bench.rollup.cost import CORES, Through, measure_cost, measure_growth, retaining
from laneway_bench.rollup.finality import measure as finality
from laneway_bench.rollup.lane import SLOT_MS, DrivenLane


@pytest.fixture(autouse=True)
def quiet(capsys: pytest.CaptureFixture[str]) -> Any:
    """What it says of its progress is for the bench."""
    yield
    capsys.readouterr()


@pytest.mark.slow
def test_blocks_go_through_a_stub_chain_once_and_in_order() -> None:
    numbers: list[int] = []
    through = Through(100)
    lane = through.driven.lane
    through.run(4)
    numbers = list(lane.finished)
    assert numbers == sorted(numbers)
    assert through.final() >= 4 * CORES
    assert numbers[-1] == through.final()


@pytest.mark.slow
def test_a_stub_chain_forgets_what_is_final() -> None:
    through = Through(8)
    through.run(30)
    chain = through.chain
    assert len(chain.facts) <= 8 * CORES
    assert len(through.driven.lane.finished) == 8


def test_a_long_line_is_told_from_its_newest_block() -> None:
    chain = StubChain()
    for slot in range(1, BLOCKS_KEPT_MAX + 10):
        chain.step(slot)
    assert len(chain.heights) == BLOCKS_KEPT_MAX
    seen = chain.look(LookAtChain((), ()), 0).seen
    assert (seen.after, len(seen.blocks)) == (None, 1)
    known = chain.blocks[-3]
    seen = chain.look(LookAtChain((known,), ()), 0).seen
    assert seen.after == known
    assert [one.is_readable for one in seen.blocks] == [False, True]


@pytest.mark.slow
def test_retained_blocks_are_kept_while_others_come() -> None:
    through = retaining(500)
    assert len(through.driven.lane.finished) == 500


@pytest.mark.slow
def test_costs_and_growth_are_measured() -> None:
    cost = measure_cost((8, 200), rounds=1, slots=2)
    assert cost["tick_cost_100k_vs_8_retained"] > 0
    growth = measure_growth(64)
    assert growth["blocks"] >= 64
    assert growth["kept"] == 100


@pytest.mark.slow
def test_every_core_of_the_model_is_used_in_every_slot() -> None:
    found = measure(6, spec=TINY, first=6)
    assert found["pairs"] == 12
    assert found["core_slots_busy_341_cores_stub_service"] == 1


def test_a_core_that_gets_nothing_is_not_busy() -> None:
    chain = Cores(TINY)
    final: list[object] = []
    driven = DrivenLane(
        core_settings(TINY),
        chain,
        lambda one: final.append(one) if isinstance(one, BlockFinalised) else None,
    )
    driven.supply = 1
    reported = 0
    for slot in range(1, 10):
        reported += len(chain.step(slot).reported)
        driven.now_ms = slot * SLOT_MS
        driven.until((slot + 1) * SLOT_MS - 1)
    assert reported == 1
    assert len(final) == 1


@pytest.mark.slow
def test_a_block_of_the_ledger_is_final_four_slots_after_its_window() -> None:
    found = finality(10)
    assert found["slots"]["max"] == 4
    assert found["blocks"] >= 4
