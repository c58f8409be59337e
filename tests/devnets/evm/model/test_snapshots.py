"""Snapshots by their numbers."""

import pytest

from laneway.devnets.evm.model import snapshots
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.snapshots import ChainSnapshots

WHO = b"\x01" * 20


@pytest.fixture(params=[True, False])
def chain(request: pytest.FixtureRequest) -> EvmModel:
    return EvmModel({WHO: 5}, executes=request.param)


def test_a_chain_goes_back_and_later_snapshots_are_used_up(chain: EvmModel) -> None:
    kept = ChainSnapshots(chain)
    assert not kept.revert(0)
    first, _, second = kept.take(), chain.mine(1_000), kept.take()
    chain.set_account(WHO, balance_wei=7)
    chain.mine(2_000)
    assert (first, second) == (0, 1)
    assert list(kept.kept()) == [0, 1]
    assert kept.revert(1)
    assert chain.newest().number == 1
    assert chain.balance(0, WHO) == 5, "what was set since on the same block is undone too"
    assert not kept.revert(1), "it is used up"
    assert kept.take() == 2, "no number comes again"
    assert kept.revert(0)
    assert (chain.newest().number, dict(kept.kept())) == (0, {})
    assert not kept.revert(2)


def test_a_snapshot_outlives_the_fork_that_it_is_of(chain: EvmModel) -> None:
    kept = ChainSnapshots(chain)
    chain.mine(1_000)
    newest = chain.mine(2_000)
    assert kept.take() == 0
    chain.reorg(2, 3_000)
    chain.mine(4_000)
    assert kept.revert(0)
    assert chain.head(0) is newest
    assert chain.block(0, 1) is chain.parent(newest)


def test_they_are_bounded_and_can_be_forgotten(
    chain: EvmModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOTS_COUNT_MAX", 2)
    kept = ChainSnapshots(chain)
    assert [kept.take() for _ in range(3)] == [0, 1, None]
    kept.clear()
    assert not kept.revert(0)
    assert kept.take() == 2
