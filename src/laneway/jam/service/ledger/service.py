"""The ledger as a service: what guarantors and the chain call."""

from laneway.jam.service.interface import (
    Accumulation,
    Operand,
    RefineInput,
    RefineOutput,
    StorageView,
)
from laneway.jam.service.ledger.item import code_hash
from laneway.jam.service.ledger.refine import refine
from laneway.jam.service.sequencing import sequence


class LedgerService:
    """Of one chain: the hash of its genesis header is part of the code."""

    def __init__(self, chain: bytes) -> None:
        self.chain = chain
        self.code_hash = code_hash(chain)

    def refine(self, given: RefineInput, /) -> RefineOutput:
        return refine(self.chain, given)

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int, /
    ) -> Accumulation:
        """The line of all rollups, to which the ledger adds nothing: the head's record has the
        root of its newest state."""
        done = sequence(view, operands, slot)
        return Accumulation(writes=done.writes, yield_hash=done.yield_hash, gas_used=done.gas_used)
