"""The ledger's state as a builder has it: a whole trie, of which every block leaves another one.

A state never changes, and shares with its successors what they did not touch; keeping those of many
blocks costs what the blocks changed. Genesis is here, too: money comes from nowhere else.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from laneway.jam.codec import HASH, U64, Codec, Many, Record
from laneway.jam.errors import InvalidBlock, Unencodable
from laneway.jam.service.commitment import genesis_records
from laneway.jam.service.interface import StorageView
from laneway.jam.trie import Trie
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import (
    ACCOUNT,
    AMOUNT_MAX,
    LedgerEntry,
    account_key,
    account_of,
)
from laneway.rollups.ledger.block import (
    LedgerBlock,
    LedgerHeader,
    block_hash,
    genesis_header,
    receipts_root,
    transfers_root,
)
from laneway.rollups.ledger.execution import executed
from laneway.rollups.ledger.kind import GENESIS_KEY
from laneway.rollups.ledger.limits import GENESIS_COUNT_MAX, TRANSFER_COUNT_MAX
from laneway.rollups.ledger.transfer import Transfer
from laneway.rollups.ledger.witness import nodes_on_the_ways, touched_keys


class LedgerState(msgspec.Struct, frozen=True):
    domain: Domain
    trie: Trie

    @property
    def root(self) -> bytes:
        return self.trie.root

    def account(self, id_: bytes) -> LedgerEntry:
        return account_of(self.trie.get(account_key(id_)))


class GenesisAccount(msgspec.Struct, frozen=True):
    id: bytes
    balance: int


GENESIS: Final[Codec[tuple[GenesisAccount, ...]]] = Many(
    Record(GenesisAccount, id=HASH, balance=U64), GENESIS_COUNT_MAX
)


def genesis_state(domain: Domain, balances: Mapping[bytes, int]) -> LedgerState:
    """Before the first block, with what these accounts have."""
    return LedgerState(domain, _genesis_trie(balances))


def _genesis_trie(balances: Mapping[bytes, int]) -> Trie:
    if any(balance <= 0 for balance in balances.values()):
        raise Unencodable(problem="an account without a balance is not in the state")
    total = sum(balances.values())
    if total > AMOUNT_MAX:
        # Then no balance can ever overflow, whatever is sent.
        raise Unencodable(problem=f"{total} in all, and at most {AMOUNT_MAX} can exist")
    return Trie.of(
        {
            account_key(id_): ACCOUNT.encode(LedgerEntry(balance))
            for id_, balance in balances.items()
        }
    )


def genesis(balances: Mapping[bytes, int], authorizers: Iterable[bytes] = ()) -> dict[bytes, bytes]:
    """The storage that the service begins with, when these accounts, by id, have something, and
    these authorizers, by hash, may move its line; without any, all may."""
    root = _genesis_trie(balances).root
    accounts = tuple(GenesisAccount(id_, balance) for id_, balance in sorted(balances.items()))
    return {
        **genesis_records(block_hash(genesis_header(root)), root, authorizers),
        GENESIS_KEY: GENESIS.encode(accounts),
    }


def genesis_balances(view: StorageView) -> dict[bytes, int]:
    """What a service on a chain began with, for a builder that has nothing else; empty where it
    is no ledger."""
    raw = view.read(GENESIS_KEY)
    accounts = () if raw is None else GENESIS.decode(raw, "genesis")
    return {account.id: account.balance for account in accounts}


def execute(
    state: LedgerState, transfers: Sequence[Transfer], parent: LedgerHeader, slot: int
) -> tuple[LedgerBlock, LedgerState]:
    """Make the block of these transfers on its parent, and the state that it leaves."""
    if not 0 < len(transfers) <= TRANSFER_COUNT_MAX:
        raise InvalidBlock(
            problem=f"{len(transfers)} transfers; 1 to {TRANSFER_COUNT_MAX} make one"
        )
    if parent.post_root != state.root:
        raise InvalidBlock(problem="its parent left another state")
    done = executed(state.domain, transfers, state.account)
    after = state.trie.with_changes(
        {account_key(id_): ACCOUNT.encode(account) for id_, account in done.changed.items()}
    )
    header = LedgerHeader(
        number=parent.number + 1,
        parent=block_hash(parent),
        timestamp=slot,
        pre_root=state.root,
        post_root=after.root,
        transfers_root=transfers_root(transfers),
        receipts_root=receipts_root(done.receipts),
        count=len(transfers),
    )
    return LedgerBlock(header, tuple(transfers), done.receipts), LedgerState(state.domain, after)


def witness_of(state: LedgerState, block: LedgerBlock) -> tuple[bytes, ...]:
    """What of the state before the block its guarantors must see."""
    assert block.header.pre_root == state.root
    return nodes_on_the_ways(state.trie, touched_keys(block.transfers))
