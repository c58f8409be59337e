"""laneway's side: the one file that knows the interface of its EVM core."""

from typing import Any

from tests.differential.case import Answer, Case, CaseBlock

from laneway.evm.envelope import decode
from laneway.evm.errors import InvalidTransaction
from laneway.evm.execution.fees import blob_fee_wei
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.execution.transact import BlockExecution
from laneway.evm.fork import Fork
from laneway.evm.machine.context import BlockContext
from laneway.evm.rules import BPO1_BLOBS, BPO2_BLOBS, ForkRules, rules_of
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.plain import PlainState
from laneway.evm.validity import validate

ENGINES = ("interpreted", "compiled")
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


def answer(case: Case, engine: str) -> Answer:
    rules = RULES[case.fork]
    state = state_of(case)
    journal = StateJournal(state)
    execution = BlockExecution(journal, context_of(case.block, rules), rules)
    results = [_transact(execution, rules, draft.raw(), case.block) for draft in case.drafts]
    state.apply(journal.write_set())
    return {"transactions": results, "accounts": shown_state(state)}


def _transact(
    execution: BlockExecution, rules: ForkRules, raw: bytes, block: CaseBlock
) -> dict[str, Any]:
    try:
        transaction = decode(raw)
        sender = validate(transaction, rules.fork, block.chain_id)
        receipt = execution.transact(transaction, sender)
    except InvalidTransaction as error:
        return {"excluded": type(error).__name__, "reason": str(error)}
    return shown_receipt(receipt)


def shown_receipt(receipt: EvmReceipt) -> dict[str, Any]:
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
