"""State tests and blocks, as the EVM runs them and the vectors judge it.

Every block is executed on a state in dictionaries; its root comes from a trie that is changed by
the write set alone.
"""

from collections.abc import Iterable

from msgspec import Struct
from tests.vectors.evm_states import ListedState
from tests.vectors.state_tests import Row, StateTest, Surroundings, block_hash

from laneway.evm import rlp
from laneway.evm.envelope import decode
from laneway.evm.errors import InvalidTransaction
from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.fees import blob_fee_wei
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.keccak import keccak
from laneway.evm.limits import NEVER_COMPILED
from laneway.evm.machine.context import BlockContext
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.rules import ForkRules, rules_of
from laneway.evm.state.changes import WriteSet
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.plain import PlainState
from laneway.evm.state.view import StateAccount
from laneway.evm.trie.accounts import AccountTrie
from laneway.evm.validity import validate

ENGINES = {"interpreted": NEVER_COMPILED, "compiled": 0}
"""After how many uses code is compiled."""


class Outcome(Struct, frozen=True):
    receipt: EvmReceipt | None
    """None if no block takes the transaction."""
    changes: WriteSet
    refusal: str = ""


def plain_state(listed: ListedState) -> PlainState:
    accounts = {
        address: StateAccount(one.nonce, one.balance_wei, one.code_hash)
        for address, one in listed.accounts.items()
    }
    storages = {address: slots for address, slots in listed.storages.items() if slots}
    return PlainState(accounts, listed.codes, storages)


def context(block: Surroundings, rules: ForkRules) -> BlockContext:
    return BlockContext(
        number=block.number,
        timestamp_s=block.timestamp_s,
        coinbase=block.coinbase,
        gas_limit=block.gas_limit,
        base_fee_wei=block.base_fee_wei,
        prevrandao=block.prevrandao,
        blob_base_fee_wei=blob_fee_wei(block.excess_blob_gas, rules.blobs),
        chain_id=block.chain_id,
        block_hash=block_hash,
    )


def run(surroundings: Surroundings, state: PlainState, row: Row, engine: str) -> Outcome:
    """What becomes of a row's transaction; the state itself does not change."""
    rules = rules_of(row.fork)
    journal = StateJournal(state)
    block = EvmExecution(
        journal, context(surroundings, rules), rules, compiled_after=ENGINES[engine]
    )
    try:
        transaction = decode(row.raw)
        sender = validate(transaction, row.fork, surroundings.chain_id)
        receipt = block.transact(transaction, sender)
    except InvalidTransaction as refused:
        return Outcome(None, journal.write_set(), str(refused))
    return Outcome(receipt, journal.write_set())


def problems(test: StateTest, engine: str) -> list[str]:
    """What is not as the vectors say, a line for each row at most."""
    state = plain_state(test.pre)
    trie = test.pre.trie()
    found = ((row.name, problem(test, state, trie, row, engine)) for row in test.rows)
    return [f"{name}: {said}" for name, said in found if said]


def problem(test: StateTest, state: PlainState, trie: AccountTrie, row: Row, engine: str) -> str:
    outcome = run(test.surroundings, state, row, engine)
    changes = outcome.changes
    if row.exception is not None:
        if outcome.receipt is not None:
            return f"it ran, and no block takes it: {row.exception}"
        return "it left a trace" if changes.accounts or changes.storage or changes.codes else ""
    if outcome.receipt is None:
        return f"it was refused: {outcome.refusal}"
    if logs_hash(outcome.receipt.logs) != row.logs_hash:
        return f"its logs are others: {outcome.receipt}"
    if trie.updated(changes.accounts, changes.storage).root() != row.root:
        return f"it leaves another state: {outcome.receipt}"
    return ""


def logs_hash(logs: Iterable[EvmLog]) -> bytes:
    return keccak(rlp.encode([(log.address, list(log.topics), log.data) for log in logs]))
