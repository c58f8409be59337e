"""Witnesses: what a guarantor who has no state needs to see of it, to execute a block.

The accounts follow from the transfers, and so does which nodes are on their ways: a witness is a
list of nodes and nothing else.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from laneway.jam.codec import Codec, Many, Octets
from laneway.jam.service.ledger.account import account_key
from laneway.jam.service.ledger.limits import WITNESS_NODE_COUNT_MAX
from laneway.jam.service.ledger.transfer import Transfer, account_id
from laneway.jam.trie import KEY_BITS, NODE_BYTES, Trie

WITNESS: Final[Codec[tuple[bytes, ...]]] = Many(Octets(NODE_BYTES), WITNESS_NODE_COUNT_MAX)


def touched_keys(transfers: Iterable[Transfer]) -> tuple[bytes, ...]:
    """Of the accounts of all senders and recipients, whatever becomes of the transfers; sorted."""
    touched: dict[bytes, None] = {}
    for transfer in transfers:
        touched[account_key(account_id(transfer.sender))] = None
        touched[account_key(transfer.recipient)] = None
    return tuple(sorted(touched))


def nodes_on_the_ways(trie: Trie, keys: Sequence[bytes]) -> tuple[bytes, ...]:
    """From the root down and from left to right, each node once; the keys are sorted and differ."""
    found: list[bytes] = []
    before: bytes | None = None
    for key in keys:
        way = trie.proof(key)
        # The nodes down to where the two ways part are there already.
        found += way if before is None else way[_common_bits(before, key) + 1 :]
        before = key
    return tuple(found)


def _common_bits(one: bytes, other: bytes) -> int:
    differing = int.from_bytes(one, "big") ^ int.from_bytes(other, "big")
    return KEY_BITS - differing.bit_length()
