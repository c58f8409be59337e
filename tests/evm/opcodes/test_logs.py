"""0xA0s."""

import pytest
from tests.evm.scene import CONTRACT, Scene, gas_of, halt_of

from laneway.evm.opcodes.logs import EvmLog


@pytest.mark.parametrize("count", range(5))
def test_a_log_has_its_topics_and_its_data(count: int) -> None:
    scene = Scene()
    topics = " ".join(str(10 + topic) for topic in reversed(range(count)))
    scene.run(f"7 0 MSTORE8 {topics} 2 0 LOG{count}")
    wanted = tuple((10 + topic).to_bytes(32, "big") for topic in range(count))
    assert scene.journal.logs == [EvmLog(CONTRACT, wanted, b"\x07\x00")]


@pytest.mark.parametrize("count", range(5))
def test_it_costs_by_topics_and_bytes(count: int) -> None:
    topics = "1 " * count
    assert gas_of(f"{topics}2 0 LOG{count}") == 3 * count + 5 + 375 + 375 * count + 16 + 3


def test_nothing_is_logged_in_a_static_call() -> None:
    assert halt_of("0 0 LOG0", is_static=True) == "write protection"
