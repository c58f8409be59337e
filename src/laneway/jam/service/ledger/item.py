"""A block as a work item: what a builder puts into a package."""

from typing import Final

import msgspec

from laneway.jam.hashing import blake2b
from laneway.jam.package import ExtrinsicSpec, WorkItem
from laneway.jam.service.ledger.block import HEADER, Block, segments_of
from laneway.jam.service.ledger.limits import BLOCK_GAS, NODE_GAS, TRANSFER_GAS
from laneway.jam.service.ledger.transfer import TRANSFERS, Domain
from laneway.jam.service.ledger.witness import WITNESS
from laneway.jam.service.limits import OPERAND_GAS

CODE_TAG: Final = b"jamroll-ledger-service/1"


class Work(msgspec.Struct, frozen=True):
    """A work item, and the byte strings that it names."""

    item: WorkItem
    extrinsics: tuple[bytes, ...]
    """The transfers, then the witness."""


def code_hash(chain: bytes) -> bytes:
    """What stands for the code of the ledger service of a chain."""
    return blake2b(CODE_TAG + chain)


def refine_gas(transfer_count: int, node_count: int) -> int:
    return BLOCK_GAS + transfer_count * TRANSFER_GAS + node_count * NODE_GAS


def work_item(domain: Domain, block: Block, witness: tuple[bytes, ...]) -> Work:
    """Ask for exactly the gas that the block needs."""
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
    return Work(item, extrinsics)
