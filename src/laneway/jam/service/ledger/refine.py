"""Refining a block: executed again from its witness, and claimed only where all of it holds.

A guarantor has the payload, which is the header, and two extrinsics: transfers and witness. What
the header says is believed of nothing but number, parent and timestamp, which the service's line
judges at accumulation. Everything else is computed anew.
"""

from typing import Final

from laneway.jam.errors import InvalidBlock, InvalidJam
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.interface import RefineInput, RefineOutput
from laneway.jam.service.ledger.account import ACCOUNT, Account, account_key, account_of
from laneway.jam.service.ledger.block import (
    HEADER,
    Block,
    Header,
    claim_of,
    receipts_root,
    segments_of,
    transfers_root,
)
from laneway.jam.service.ledger.execution import executed
from laneway.jam.service.ledger.item import refine_gas
from laneway.jam.service.ledger.limits import BLOCK_GAS
from laneway.jam.service.ledger.partial import PartialTrie
from laneway.jam.service.ledger.transfer import TRANSFERS, Domain, Transfer
from laneway.jam.service.ledger.witness import WITNESS, touched_keys
from laneway.jam.service.values import CLAIMED, Claimed

EXTRINSIC_COUNT: Final = 2


def refine(chain: bytes, given: RefineInput) -> RefineOutput:
    """The claim and the block's segments; PANIC where it does not hold, OUT_OF_GAS where that
    cannot be found out."""
    gas_used = min(BLOCK_GAS, given.gas_limit)
    try:
        header, transfers, witness = read(given)
        needed = refine_gas(len(transfers), len(witness))
        gas_used = min(needed, given.gas_limit)
        if gas_used < needed:
            return RefineOutput(result=WorkError.OUT_OF_GAS, gas_used=gas_used)
        block = checked(Domain(chain, given.service), header, transfers, witness)
    except InvalidJam:
        return RefineOutput(result=WorkError.PANIC, gas_used=gas_used)
    return RefineOutput(
        result=Ok(CLAIMED.encode(Claimed(claim_of(block.header)))),
        exports=segments_of(block),
        gas_used=gas_used,
    )


def read(given: RefineInput) -> tuple[Header, tuple[Transfer, ...], tuple[bytes, ...]]:
    """The header, the transfers and the witness that were brought."""
    if len(given.extrinsics) != EXTRINSIC_COUNT or given.imports:
        brought = f"{len(given.extrinsics)} extrinsics and {len(given.imports)} imports"
        raise InvalidBlock(problem=f"{brought}, and not transfers and a witness")
    header = HEADER.decode(given.payload, "header")
    transfers = TRANSFERS.decode(given.extrinsics[0], "transfers")
    return header, transfers, WITNESS.decode(given.extrinsics[1], "witness")


def checked(
    domain: Domain,
    header: Header,
    transfers: tuple[Transfer, ...],
    witness: tuple[bytes, ...],
) -> Block:
    """The block, with the receipts that its transfers have; InvalidBlock or InvalidProof unless
    the header says the same."""
    if not transfers or header.number == 0:
        raise InvalidBlock(problem="it is empty, or a second genesis")
    if header.count != len(transfers):
        raise InvalidBlock(problem=f"{len(transfers)} transfers, and not {header.count}")
    if header.transfers_root != transfers_root(transfers):
        raise InvalidBlock(problem="its transfers are others than its header says")
    before = PartialTrie(header.pre_root, witness, touched_keys(transfers))

    def account(id_: bytes) -> Account:
        return account_of(before.value(account_key(id_)))

    done = executed(domain, transfers, account)
    if header.receipts_root != receipts_root(done.receipts):
        raise InvalidBlock(problem="its receipts are others than its header says")
    after = {account_key(id_): ACCOUNT.encode(found) for id_, found in done.changed.items()}
    if header.post_root != before.root_with(after):
        raise InvalidBlock(problem="it leaves another state than its header says")
    return Block(header, transfers, done.receipts)
