"""Laws of a block as a work item."""

from tests.jam.service.ledger.stage import CHAIN, CONTEXT, DOMAIN, made, send

from laneway.jam.hashing import blake2b
from laneway.jam.package import WorkPackage, package_problem
from laneway.jam.service.ledger.block import HEADER, segments_of
from laneway.jam.service.ledger.item import code_hash, refine_gas, work_item
from laneway.jam.service.ledger.limits import TRANSFER_COUNT_MAX, WITNESS_NODE_COUNT_MAX
from laneway.jam.service.ledger.transfer import TRANSFERS
from laneway.jam.service.ledger.witness import WITNESS
from laneway.jam.spec import FULL, TINY


def test_an_item_brings_the_header_the_transfers_and_the_witness() -> None:
    block, witness = made(send(0, 5, 300), send(1, 5, 1))
    work = work_item(DOMAIN, block, witness)
    assert work.item.service == DOMAIN.service
    assert work.item.code_hash == code_hash(CHAIN) == blake2b(b"jamroll-ledger-service/1" + CHAIN)
    assert work.item.payload == HEADER.encode(block.header)
    assert work.extrinsics == (TRANSFERS.encode(block.transfers), WITNESS.encode(witness))
    assert [(spec.hash, spec.len) for spec in work.item.extrinsic] == [
        (blake2b(raw), len(raw)) for raw in work.extrinsics
    ]
    assert work.item.export_count == len(segments_of(block))
    assert work.item.refine_gas_limit == refine_gas(2, len(witness))
    package = WorkPackage(
        auth_code_host=0, auth_code_hash=CHAIN, context=CONTEXT, items=(work.item,)
    )
    assert package_problem(package, TINY) is None


def test_the_largest_block_stays_within_the_gas_of_every_chain() -> None:
    most = refine_gas(TRANSFER_COUNT_MAX, WITNESS_NODE_COUNT_MAX)
    assert most < min(TINY.refine_gas_max, FULL.refine_gas_max)
