"""A node of a chain, as it begins."""

from laneway.devnets.evm.model.block import genesis
from laneway.devnets.evm.model.nodes import ChainNode


def test_a_node_begins_with_nothing_but_a_head() -> None:
    first = genesis({}, 30_000_000)
    node = ChainNode(first)
    assert (node.head, len(node.pool), node.lag_blocks) == (first, 0, 0)
    assert (node.frozen, node.state_blocks) == (False, None)
