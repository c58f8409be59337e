"""What a fork fixes."""

import pytest

from laneway.evm.fork import Fork
from laneway.evm.rules import BPO2_BLOBS, CANCUN_BLOBS, PRAGUE_BLOBS, rules_of


def test_a_fork_has_its_own_number_of_blobs_unless_a_schedule_is_named() -> None:
    assert rules_of(Fork.CANCUN).blobs == CANCUN_BLOBS
    assert rules_of(Fork.PRAGUE).blobs == rules_of(Fork.OSAKA).blobs == PRAGUE_BLOBS
    assert rules_of(Fork.OSAKA, BPO2_BLOBS).blobs.most == 21


def test_a_fork_before_cancun_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match="Shanghai cannot be executed"):
        rules_of(Fork.SHANGHAI)


def test_opcodes_and_precompiles_are_those_of_the_fork() -> None:
    assert "CLZ" in {one.name for one in rules_of(Fork.OSAKA).opcodes.known.values()}
    assert 0x1E not in rules_of(Fork.PRAGUE).opcodes.known
    assert len(rules_of(Fork.CANCUN).precompiles) < len(rules_of(Fork.PRAGUE).precompiles)
