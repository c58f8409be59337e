"""How a node stands is one line for a person to read."""

from laneway.ports.nodes import UNREACHABLE, NodeStanding


def test_a_standing_says_which_node_and_what_is_wrong() -> None:
    standing = NodeStanding("http://127.0.0.1:1", UNREACHABLE, "refuses connections")
    assert standing.words() == "node http://127.0.0.1:1 refuses connections"
