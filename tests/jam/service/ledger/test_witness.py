"""Laws of witnesses: the nodes on the ways to the accounts, each once, and no others."""

from itertools import pairwise

import pytest
from tests.jam.service.ledger.stage import IDS, begun, send

from laneway.jam.hashing import blake2b
from laneway.jam.service.ledger.account import account_key
from laneway.jam.service.ledger.witness import WITNESS, nodes_on_the_ways, touched_keys
from laneway.jam.state_keys import KEY_BYTES
from laneway.jam.trie import EMPTY, Trie

LARGE = Trie.of({blake2b(b"%d" % n)[:KEY_BYTES]: b"%d" % n for n in range(500)})


def test_senders_and_recipients_are_touched_once() -> None:
    keys = touched_keys([send(0, 5, 1), send(5, 0, 1), send(0, 1, 1)])
    assert keys == tuple(sorted(account_key(IDS[place]) for place in (0, 1, 5)))


def test_the_nodes_are_those_of_each_keys_own_proof() -> None:
    trie = begun()[0].trie
    for key in (account_key(id_) for id_ in IDS):
        assert nodes_on_the_ways(trie, [key]) == trie.proof(key)


@pytest.mark.parametrize("count", [0, 1, 2, 40, 500])
def test_every_node_on_a_way_is_there_once(count: int) -> None:
    keys = sorted(blake2b(b"%d" % (n * 2))[:KEY_BYTES] for n in range(count))
    nodes = nodes_on_the_ways(LARGE, keys)
    wanted: dict[bytes, None] = {}
    for key in keys:
        wanted.update(dict.fromkeys(LARGE.proof(key)))
    assert list(nodes) == list(wanted)


def test_parents_come_before_their_children() -> None:
    keys = sorted(blake2b(b"%d" % n)[:KEY_BYTES] for n in range(0, 500, 7))
    place = {node: at for at, node in enumerate(nodes_on_the_ways(LARGE, keys))}
    for key in keys:
        assert all(place[above] < place[below] for above, below in pairwise(LARGE.proof(key)))


def test_of_an_empty_state_there_is_nothing_to_see() -> None:
    assert nodes_on_the_ways(EMPTY, [bytes(KEY_BYTES)]) == ()


def test_a_witness_to_the_byte() -> None:
    nodes = (b"a" * 64, b"b" * 64)
    assert WITNESS.encode(nodes) == b"\2" + b"a" * 64 + b"b" * 64
