"""The ledger as a service: what guarantors and the chain call.

A block is refined by executing it again from its witness, and claimed only where all of it holds.

A guarantor has the payload, which is the header, and two extrinsics: transfers and witness. What
the header says is believed of nothing but number, parent and timestamp, which the service's line
judges at accumulation. Everything else is computed anew.
"""

from typing import Final

from laneway.jam.errors import InvalidBlock, InvalidJam
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.interface import (
    Accumulation,
    Operand,
    RefineInput,
    RefineOutput,
    StorageView,
)
from laneway.jam.service.sequencing import accumulate
from laneway.jam.service.values import CLAIMED, Claimed
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import ACCOUNT, LedgerEntry, account_key, account_of
from laneway.rollups.ledger.block import (
    HEADER,
    LedgerBlock,
    LedgerHeader,
    claim_of,
    receipts_root,
    segments_of,
    transfers_root,
)
from laneway.rollups.ledger.execution import executed
from laneway.rollups.ledger.limits import BLOCK_GAS
from laneway.rollups.ledger.partial import PartialTrie
from laneway.rollups.ledger.transfer import TRANSFERS, Transfer
from laneway.rollups.ledger.witness import WITNESS, code_hash, refine_gas, touched_keys

EXTRINSIC_COUNT: Final = 2


def refine(chain: bytes, request: RefineInput) -> RefineOutput:
    """The claim and the block's segments; PANIC where it does not hold, OUT_OF_GAS where that
    cannot be found out."""
    gas_used = min(BLOCK_GAS, request.gas_limit)
    try:
        header, transfers, witness = read(request)
        needed = refine_gas(len(transfers), len(witness))
        gas_used = min(needed, request.gas_limit)
        if gas_used < needed:
            return RefineOutput(result=WorkError.OUT_OF_GAS, gas_used=gas_used)
        block = checked(Domain(chain, request.service), header, transfers, witness)
    except InvalidJam:
        return RefineOutput(result=WorkError.PANIC, gas_used=gas_used)
    return RefineOutput(
        result=Ok(CLAIMED.encode(Claimed(claim_of(block.header)))),
        exports=segments_of(block),
        gas_used=gas_used,
    )


def read(request: RefineInput) -> tuple[LedgerHeader, tuple[Transfer, ...], tuple[bytes, ...]]:
    """The header, the transfers and the witness that were brought."""
    if len(request.extrinsics) != EXTRINSIC_COUNT or request.imports:
        brought = f"{len(request.extrinsics)} extrinsics and {len(request.imports)} imports"
        raise InvalidBlock(problem=f"{brought}, and not transfers and a witness")
    header = HEADER.decode(request.payload, "header")
    transfers = TRANSFERS.decode(request.extrinsics[0], "transfers")
    return header, transfers, WITNESS.decode(request.extrinsics[1], "witness")


def checked(
    domain: Domain,
    header: LedgerHeader,
    transfers: tuple[Transfer, ...],
    witness: tuple[bytes, ...],
) -> LedgerBlock:
    """The block, with the receipts that its transfers have; InvalidBlock or InvalidProof unless
    the header says the same."""
    if not transfers or header.number == 0:
        raise InvalidBlock(problem="it is empty, or a second genesis")
    if header.count != len(transfers):
        raise InvalidBlock(problem=f"{len(transfers)} transfers, and not {header.count}")
    if header.transfers_root != transfers_root(transfers):
        raise InvalidBlock(problem="its transfers are others than its header says")
    before = PartialTrie(header.pre_root, witness, touched_keys(transfers))

    def account(id_: bytes) -> LedgerEntry:
        return account_of(before.value(account_key(id_)))

    done = executed(domain, transfers, account)
    if header.receipts_root != receipts_root(done.receipts):
        raise InvalidBlock(problem="its receipts are others than its header says")
    after = {account_key(id_): ACCOUNT.encode(found) for id_, found in done.changed.items()}
    if header.post_root != before.root_with(after):
        raise InvalidBlock(problem="it leaves another state than its header says")
    return LedgerBlock(header, transfers, done.receipts)


class LedgerService:
    """The ledger of one chain: the hash of its genesis header is part of the code."""

    def __init__(self, chain: bytes) -> None:
        self.chain = chain
        self.code_hash = code_hash(chain)

    def refine(self, request: RefineInput, /) -> RefineOutput:
        return refine(self.chain, request)

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int, /
    ) -> Accumulation:
        return accumulate(view, operands, slot)
