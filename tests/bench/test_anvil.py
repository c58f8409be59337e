"""A node for the time of one round."""

from pathlib import Path

import pytest

from laneway_bench import anvil as nodes
from laneway_bench.anvil import ADDRESS, MINES, STANDS, anvil, is_up, program, version
from laneway_bench.child import BenchFailed


def test_a_missing_anvil_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "anvil_program", lambda: None)
    with pytest.raises(BenchFailed, match="make setup"):
        program()


@pytest.mark.slow
def test_a_chain_begins_empty_and_its_node_is_gone_afterwards(tmp_path: Path) -> None:
    assert version(program())[0].isdigit()
    with anvil(program(), tmp_path, *STANDS) as node:
        assert node.count() == 0
        assert node.cpu_s() >= 0
        assert int(node.say("eth_getBalance", ADDRESS, "latest"), 16) == 10_000 * 10**18
        with pytest.raises(BenchFailed, match="eth_dance"):
            node.say("eth_dance")
    assert not is_up(node)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_node_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(BenchFailed, match="--dance"), anvil(program(), tmp_path, *MINES, "--dance"):
        pass
