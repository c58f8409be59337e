"""Witnesses, and work items with them: what a builder puts into a package.

A witness is what a guarantor who has no state needs to see of it to execute a block. The accounts
follow from the transfers, and so do the nodes on the paths to them: it is a list of nodes alone.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from laneway.jam.codec import Codec, Many, Octets
from laneway.jam.hashing import blake2b
from laneway.jam.package import ExtrinsicSpec, WorkItem
from laneway.jam.service.limits import OPERAND_GAS
from laneway.jam.trie import KEY_BITS, NODE_BYTES, Trie
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import account_key
from laneway.rollups.ledger.block import HEADER, LedgerBlock, segments_of
from laneway.rollups.ledger.limits import BLOCK_GAS, NODE_GAS, TRANSFER_GAS, WITNESS_NODE_COUNT_MAX
from laneway.rollups.ledger.transfer import TRANSFERS, Transfer, account_id
from laneway.rollups.rules import BlockWork

WITNESS: Final[Codec[tuple[bytes, ...]]] = Many(Octets(NODE_BYTES), WITNESS_NODE_COUNT_MAX)


def touched_keys(transfers: Iterable[Transfer]) -> tuple[bytes, ...]:
    """The keys of all senders and recipients, whatever becomes of the transfers; sorted."""
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


CODE_TAG: Final = b"jamroll-ledger-service/1"


def code_hash(chain: bytes) -> bytes:
    """What stands for the code of the ledger service of a chain."""
    return blake2b(CODE_TAG + chain)


def refine_gas(transfer_count: int, node_count: int) -> int:
    return BLOCK_GAS + transfer_count * TRANSFER_GAS + node_count * NODE_GAS


def work_item(domain: Domain, block: LedgerBlock, witness: tuple[bytes, ...]) -> BlockWork:
    """One item, which asks for exactly the gas that the block needs; its extrinsics are the
    transfers, then the witness."""
    extrinsics = (TRANSFERS.encode(block.transfers), WITNESS.encode(witness))
    item = WorkItem(
        service=domain.service,
        code_hash=code_hash(domain.chain),
        refine_gas_limit=refine_gas(len(block.transfers), len(witness)),
        accumulate_gas_limit=OPERAND_GAS,
        export_count=len(segments_of(block)),
        payload=HEADER.encode(block.header),
        extrinsic=tuple(ExtrinsicSpec(blake2b(raw), len(raw)) for raw in extrinsics),
    )
    return BlockWork((item,), extrinsics)
