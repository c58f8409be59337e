"""Laws of witnesses: the nodes on the ways to the accounts, each once, and no others."""

from itertools import pairwise

import pytest
from tests.rollups.ledger.stage import CHAIN, CONTEXT, DOMAIN, IDS, begun, made, send

from laneway.jam.hashing import blake2b
from laneway.jam.package import WorkPackage, package_problem
from laneway.jam.spec import FULL, TINY
from laneway.jam.state_keys import KEY_BYTES
from laneway.jam.trie import EMPTY, Trie
from laneway.rollups.ledger.account import account_key
from laneway.rollups.ledger.block import HEADER, segments_of
from laneway.rollups.ledger.limits import TRANSFER_COUNT_MAX, WITNESS_NODE_COUNT_MAX
from laneway.rollups.ledger.transfer import TRANSFERS
from laneway.rollups.ledger.witness import (
    WITNESS,
    code_hash,
    nodes_on_the_ways,
    refine_gas,
    touched_keys,
    work_item,
)

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


def test_an_item_brings_the_header_the_transfers_and_the_witness() -> None:
    block, witness = made(send(0, 5, 300), send(1, 5, 1))
    work = work_item(DOMAIN, block, witness)
    assert work.items[0].service == DOMAIN.service
    assert (
        work.items[0].code_hash == code_hash(CHAIN) == blake2b(b"jamroll-ledger-service/1" + CHAIN)
    )
    assert work.items[0].payload == HEADER.encode(block.header)
    assert work.extrinsics == (TRANSFERS.encode(block.transfers), WITNESS.encode(witness))
    assert [(spec.hash, spec.len) for spec in work.items[0].extrinsic] == [
        (blake2b(raw), len(raw)) for raw in work.extrinsics
    ]
    assert work.items[0].export_count == len(segments_of(block))
    assert work.items[0].refine_gas_limit == refine_gas(2, len(witness))
    package = WorkPackage(auth_code_host=0, auth_code_hash=CHAIN, context=CONTEXT, items=work.items)
    assert package_problem(package, TINY) is None


def test_the_largest_block_stays_within_the_gas_of_every_chain() -> None:
    most = refine_gas(TRANSFER_COUNT_MAX, WITNESS_NODE_COUNT_MAX)
    assert most < min(TINY.refine_gas_max, FULL.refine_gas_max)
