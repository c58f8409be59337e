"""A ledger with a few accounts, its builder, and a guarantor who has no state."""

from collections.abc import Mapping

from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.package import RefineContext
from laneway.jam.service.interface import Operand, RefineInput, RefineOutput, Stored, put
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.block import LedgerBlock, LedgerHeader, genesis_header
from laneway.rollups.ledger.refine import LedgerService
from laneway.rollups.ledger.state import (
    LedgerState,
    execute,
    genesis,
    genesis_state,
    witness_of,
)
from laneway.rollups.ledger.transfer import Transfer, account_id, signed
from laneway.rollups.ledger.witness import work_item
from laneway.rollups.rules import BlockWork

CHAIN = blake2b(b"a chain")
DOMAIN = Domain(CHAIN, 7)
SERVICE = LedgerService(CHAIN)
KEYS = tuple(HeldEd25519Key(blake2b(b"key %d" % index)) for index in range(8))
IDS = tuple(account_id(key.public_key) for key in KEYS)
RICH = 4
"""Accounts that genesis gives something to; the others are unknown."""
BALANCES: Mapping[bytes, int] = {IDS[index]: 1_000 * (index + 1) for index in range(RICH)}
CONTEXT = RefineContext(
    anchor=ZERO_HASH,
    state_root=ZERO_HASH,
    beefy_root=ZERO_HASH,
    lookup_anchor=ZERO_HASH,
    lookup_anchor_slot=0,
)


def send(payer: int, payee: int, amount: int, nonce: int = 0) -> Transfer:
    return signed(KEYS[payer], DOMAIN, recipient=IDS[payee], amount=amount, nonce=nonce)


def begun() -> tuple[LedgerState, LedgerHeader]:
    state = genesis_state(DOMAIN, BALANCES)
    return state, genesis_header(state.root)


def made(*transfers: Transfer, slot: int = 3) -> tuple[LedgerBlock, tuple[bytes, ...]]:
    """A first block of these, and its witness."""
    state, parent = begun()
    block, _ = execute(state, transfers, parent, slot)
    return block, witness_of(state, block)


def given(work: BlockWork, **changes: object) -> RefineInput:
    """What a guarantor hands to refine."""
    fields: dict[str, object] = {
        "service": work.items[0].service,
        "payload": work.items[0].payload,
        "extrinsics": work.extrinsics,
        "context": CONTEXT,
        "package_hash": blake2b(work.items[0].payload),
        "gas_limit": work.items[0].refine_gas_limit,
    }
    return RefineInput(**{**fields, **changes})  # type: ignore[arg-type]


class Builder:
    """It makes blocks on blocks, and keeps every state."""

    def __init__(self) -> None:
        state, parent = begun()
        self.states = [state]
        self.headers = [parent]

    def build(self, *transfers: Transfer) -> tuple[LedgerBlock, BlockWork]:
        block, state = execute(self.states[-1], transfers, self.headers[-1], len(self.headers))
        witness = witness_of(self.states[-1], block)
        self.states.append(state)
        self.headers.append(block.header)
        return block, work_item(DOMAIN, block, witness)


class Chain:
    """It refines and accumulates what it is given, at once."""

    def __init__(self) -> None:
        self.records = genesis(BALANCES)
        self.slot = 1

    @property
    def view(self) -> Stored:
        return Stored(self.records)

    def accumulate(self, *refined: tuple[str, RefineOutput]) -> bytes | None:
        self.slot += 1
        done = SERVICE.accumulate(
            self.view, tuple(operand(name, output) for name, output in refined), self.slot
        )
        put(self.records, done.writes)
        return done.yield_hash


def operand(package: str, refined: RefineOutput) -> Operand:
    return Operand(
        package_hash=blake2b(package.encode()),
        exports_root=blake2b(b"".join(refined.exports)),
        authorizer_hash=ZERO_HASH,
        payload_hash=ZERO_HASH,
        gas=1_000_000,
        result=refined.result,
    )
