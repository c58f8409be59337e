"""laneway's side: the one file that knows the interface of its EVM core."""

from collections.abc import Sequence
from typing import Any

from tests.differential.case import Answer, Case, CaseBlock

from laneway.evm.envelope import decode
from laneway.evm.errors import InvalidTransaction
from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.fees import blob_fee_wei
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.execution.system_calls import open_block
from laneway.evm.fork import Fork
from laneway.evm.limits import COMPILED_AFTER_GAS, EAGERLY, NEVER_COMPILED
from laneway.evm.machine.context import BlockContext
from laneway.evm.rules import BPO1_BLOBS, BPO2_BLOBS, ForkRules, rules_of
from laneway.evm.state.changes import ReadSet
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.plain import PlainState
from laneway.evm.state.view import StateAccount, StateView
from laneway.evm.transaction import LegacyTransaction
from laneway.evm.trie.accounts import AccountTrie
from laneway.evm.validity import validate

COMPILED_AFTER = {"interpreted": NEVER_COMPILED, "compiled": EAGERLY, "usual": COMPILED_AFTER_GAS}
ENGINES = ("interpreted", "compiled")
"""Everything in one of both ways. In use code is interpreted until it has the credit."""
RULES = {
    "Cancun": rules_of(Fork.CANCUN),
    "Prague": rules_of(Fork.PRAGUE),
    "Osaka": rules_of(Fork.OSAKA),
    "BPO1": rules_of(Fork.OSAKA, BPO1_BLOBS),
    "BPO2": rules_of(Fork.OSAKA, BPO2_BLOBS),
}


def state_of(case: Case) -> PlainState:
    state = PlainState()
    for address, account in case.accounts.items():
        state.put(
            address,
            nonce=account.nonce,
            balance_wei=account.balance_wei,
            code=account.code,
            storage=account.storage,
        )
    return state


def context_of(block: CaseBlock, rules: ForkRules) -> BlockContext:
    first = block.number - len(block.hashes)

    def block_hash(number: int) -> bytes:
        return block.hashes[number - first]

    return BlockContext(
        number=block.number,
        timestamp_s=block.time_s,
        coinbase=block.coinbase,
        gas_limit=block.gas_limit,
        base_fee_wei=block.base_fee_wei,
        prevrandao=block.randao,
        blob_base_fee_wei=blob_fee_wei(block.excess_blob_gas, rules.blobs),
        chain_id=block.chain_id,
        block_hash=block_hash,
    )


class Witness:
    """A state that knows what a read set says, and nothing else."""

    def __init__(self, read: ReadSet) -> None:
        self._read = read

    def account(self, address: bytes) -> StateAccount | None:
        return self._read.accounts[address]

    def storage(self, address: bytes, key: int) -> int:
        return self._read.storage[address][key]

    def code(self, address: bytes) -> bytes:
        return self._read.codes[address]

    def has_storage(self, address: bytes) -> bool:
        return self._read.with_storage[address]


def answer(case: Case, engine: str) -> Answer:
    state = state_of(case)
    results, journal = _executed(case, state, engine)
    written = journal.write_set()
    broken = []
    again, replayed = _executed(case, Witness(journal.read_set()), engine)
    if again != results or replayed.write_set() != written:
        broken.append("its read set leads elsewhere")
    root = trie_of(state).updated(written.accounts, written.storage).root()
    state.apply(written)
    return {
        "transactions": results,
        "accounts": shown_state(state),
        "root": "0x" + root.hex(),
        "broken": broken,
    }


def _executed(
    case: Case, view: StateView, engine: str
) -> tuple[list[dict[str, Any]], StateJournal]:
    rules = RULES[case.fork]
    journal = StateJournal(view)
    context = context_of(case.block, rules)
    execution = EvmExecution(journal, context, rules, compiled_after=COMPILED_AFTER[engine])
    results = [_transact(execution, rules, draft.raw(), case.block) for draft in case.drafts]
    return results, journal


def answer_in_blocks(
    case: Case, before: Answer, blocks: Sequence[CaseBlock], engine: str
) -> Answer:
    """Each transaction in a block of its own, on accounts that are known from elsewhere."""
    state, rules, results = state_shown(before), RULES[case.fork], []
    for draft, block in zip(case.drafts, blocks, strict=True):
        journal = StateJournal(state)
        context = context_of(block, rules)
        execution = EvmExecution(journal, context, rules, compiled_after=COMPILED_AFTER[engine])
        open_block(execution, parent_hash=block.hashes[-1], parent_beacon_root=bytes(32))
        results.append(_transact(execution, rules, draft.raw(), block))
        state.apply(journal.write_set())
    root = "0x" + trie_of(state).root().hex()
    return {"transactions": results, "accounts": shown_state(state), "root": root, "broken": []}


def state_shown(accounts: Answer) -> PlainState:
    """The state of accounts as `shown_state` shows them."""
    state = PlainState()
    for address, held in accounts.items():
        state.put(
            bytes.fromhex(address[2:]),
            nonce=int(held["nonce"], 16),
            balance_wei=int(held["balance"], 16),
            code=bytes.fromhex(held["code"][2:]),
            storage={int(key, 16): int(value, 16) for key, value in held["storage"].items()},
        )
    return state


SENDER, CONTRACT, COINBASE = b"\x11" * 20, b"\x22" * 20, b"\x33" * 20
FUNDS_WEI = 10**24
PLAIN_BLOCK = CaseBlock(
    chain_id=1,
    number=300,
    time_s=1_700_000_000,
    gas_limit=1 << 40,
    coinbase=COINBASE,
    base_fee_wei=1,
    randao=bytes(32),
    excess_blob_gas=0,
    hashes=tuple(bytes([number]) * 32 for number in range(256)),
)


def run_code(
    code: bytes,
    gas: int,
    *,
    data: bytes = b"",
    fork: str = "Prague",
    engine: str = ENGINES[0],
    others: dict[bytes, bytes] | None = None,
) -> tuple[EvmReceipt, PlainState]:
    """One call of an account with this code, by somebody who can pay; the receipt and the state
    after it. `others` are further accounts by address."""
    state = PlainState()
    state.put(SENDER, balance_wei=FUNDS_WEI)
    for address, held in {CONTRACT: code, **(others or {})}.items():
        state.put(address, nonce=1, balance_wei=1, code=held, storage={0: 1, 1: 1})
    journal = StateJournal(state)
    rules = RULES[fork]
    context = context_of(PLAIN_BLOCK, rules)
    execution = EvmExecution(journal, context, rules, compiled_after=COMPILED_AFTER[engine])
    receipt = execution.transact(LegacyTransaction(0, 1, gas, CONTRACT, 0, data), SENDER)
    state.apply(journal.write_set())
    return receipt, state


def trie_of(state: PlainState) -> AccountTrie:
    return AccountTrie().updated(state.accounts, state.storages)


def _transact(
    execution: EvmExecution, rules: ForkRules, raw: bytes, block: CaseBlock
) -> dict[str, Any]:
    try:
        transaction = decode(raw)
        sender = validate(transaction, rules.fork, block.chain_id)
        receipt = execution.transact(transaction, sender)
    except InvalidTransaction as error:
        return {"excluded": type(error).__name__, "reason": str(error)}
    return shown_receipt(receipt, execution.gas_used)


def shown_receipt(receipt: EvmReceipt, cumulative_gas: int) -> dict[str, Any]:
    return {
        "gas": receipt.gas_used,
        "status": int(receipt.succeeded),
        "output": "0x" + receipt.output.hex(),
        "error": None if receipt.succeeded else receipt.halt or "Revert",
        "logs": [
            [
                "0x" + log.address.hex(),
                ["0x" + topic.hex() for topic in log.topics],
                "0x" + log.data.hex(),
            ]
            for log in receipt.logs
        ],
        "receipt": "0x" + receipt.encode(cumulative_gas).hex(),
        "created": None if receipt.contract is None else "0x" + receipt.contract.hex(),
        "price": receipt.effective_price_wei,
    }


def shown_state(state: PlainState) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "0x" + address.hex(): {
            "nonce": hex(account.nonce),
            "balance": hex(account.balance_wei),
            "code": "0x" + state.codes[account.code_hash].hex(),
            "storage": {},
        }
        for address, account in state.accounts.items()
    }
    for address, storage in state.storages.items():
        held = shown.setdefault("0x" + address.hex(), {})
        held["storage"] = {hex(key): hex(value) for key, value in storage.items()}
    return shown
