"""What everyone executes: a state, a block, and transactions with the gas that each must use.

All of it is plain JSON. laneway deploys the contracts and executes every transaction once, before
anything is timed; the peers start from the same state, and must come to the same gas.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from laneway.evm import (
    BlockContext,
    EvmExecution,
    EvmReceipt,
    Fork,
    PlainState,
    StateJournal,
    rules_of,
)
from laneway.evm.envelope import encode_canonical, signing_digest
from laneway.evm.keccak import keccak
from laneway.evm.limits import NEVER_COMPILED
from laneway.evm.secp256k1 import address, sign
from laneway.evm.transaction import DynamicFeeTransaction, signed
from laneway_bench.anvil import CHAIN_ID
from laneway_bench.child import BenchFailed
from laneway_bench.limits import HASH_LOOPS, PAYEES, STORAGE_LOOPS

WORKLOADS = ("transfers", "erc20", "swap", "storage", "hash")
FORK = Fork.PRAGUE
"""The newest that all of them have."""
SECRET = bytes(31) + b"\x2a"
SENDER = address(SECRET)
BLOCK = {
    "chain_id": CHAIN_ID,
    "number": 1,
    "time": 1_800_000_000,
    "gas_limit": 10**12,
    "coinbase": "0x" + "c0" * 20,
    "base_fee": 7,
}
TIP_WEI = 1
FEE_WEI = 20
GAS_LIMIT = 3_000_000
"""Of each transaction, so that nobody's gas is estimated."""
DEPLOY_GAS_LIMIT = 5_000_000
RICH_WEI = 10**24
SUPPLY = 10**30
POOL = 10**24
"""How much of each token is in the pair."""

Call = Callable[[int], tuple[bytes, int, bytes]]
"""Recipient, value and data of the transaction with this number."""


def block_context() -> BlockContext:
    return BlockContext(
        number=1,
        timestamp_s=1_800_000_000,
        coinbase=b"\xc0" * 20,
        gas_limit=10**12,
        base_fee_wei=7,
        prevrandao=bytes(32),
        blob_base_fee_wei=1,
        chain_id=CHAIN_ID,
        block_hash=lambda _: bytes(32),
    )


class Stage:
    """A state that contracts are deployed on, and the calls that are measured on it."""

    def __init__(self, codes: Mapping[str, bytes]) -> None:
        self._codes = codes
        self.state = PlainState()
        self.state.put(SENDER, balance_wei=RICH_WEI)
        # It exists for everyone, or the first fee would make it.
        self.state.put(b"\xc0" * 20, balance_wei=1)
        for number in range(PAYEES):
            self.state.put(payee(number), balance_wei=1)
        self._journal = StateJournal(self.state)
        self._execution = EvmExecution(
            self._journal, block_context(), rules_of(FORK), compiled_after=NEVER_COMPILED
        )
        self.nonce = 0

    def transaction(self, to: bytes | None, value: int, data: bytes) -> DynamicFeeTransaction:
        """The sender's next one, signed."""
        bare = DynamicFeeTransaction(
            CHAIN_ID,
            self.nonce,
            TIP_WEI,
            FEE_WEI,
            DEPLOY_GAS_LIMIT if to is None else GAS_LIMIT,
            to,
            value,
            data,
        )
        self.nonce += 1
        return signed(bare, sign(signing_digest(bare), SECRET))

    def run(self, transaction: DynamicFeeTransaction) -> EvmReceipt:
        receipt = self._execution.transact(transaction, SENDER)
        if not receipt.succeeded:
            raise BenchFailed(f"a transaction of the benchmark failed: {receipt}")
        return receipt

    def deploy(self, name: str, *arguments: int) -> bytes:
        receipt = self.run(self.transaction(None, 0, self._codes[name] + words(*arguments)))
        assert receipt.contract is not None
        return receipt.contract

    def call(self, to: bytes, signature: str, *arguments: int) -> None:
        self.run(self.transaction(to, 0, calldata(signature, *arguments)))

    def settled(self) -> dict[str, Any]:
        """The state as it is now, for everyone."""
        self.state.apply(self._journal.write_set())
        return {
            hexed(at): {
                "nonce": account.nonce,
                "balance": hex(account.balance_wei),
                "code": hexed(self.state.code(at)),
                "storage": {
                    hex(key): hex(value) for key, value in self.state.storages.get(at, {}).items()
                },
            }
            for at, account in self.state.accounts.items()
        }


def workload(name: str, codes: Mapping[str, bytes], count: int) -> dict[str, Any]:
    """The question that every contestant is asked, but for how much of it is timed."""
    stage = Stage(codes)
    call = CALLS[name](stage)
    state = stage.settled()
    transactions, gas = [], []
    for number in range(count):
        made = stage.transaction(*call(number))
        transactions.append(hexed(encode_canonical(made)))
        gas.append(stage.run(made).gas_used)
    return {
        "block": BLOCK,
        "sender": hexed(SENDER),
        "state": state,
        "transactions": transactions,
        "gas": gas,
    }


# The calls of each workload.


def transfers(_: Stage) -> Call:
    return lambda number: (payee(number), 1, b"")


def erc20(stage: Stage) -> Call:
    token = stage.deploy("Token", SUPPLY)
    for number in range(PAYEES):
        stage.call(token, "transfer(address,uint256)", word(payee(number)), 1)
    return lambda number: (
        token,
        0,
        calldata("transfer(address,uint256)", word(payee(number)), 1 + number),
    )


def swap(stage: Stage) -> Call:
    tokens = [stage.deploy("Token", SUPPLY) for _ in range(2)]
    pair = stage.deploy("Pair", *(word(token) for token in tokens))
    for token in tokens:
        stage.call(token, "transfer(address,uint256)", word(pair), POOL)
        stage.call(token, "approve(address,uint256)", word(pair), SUPPLY)
    stage.call(pair, "sync()")
    # There and back, so that the price stays about where it is.
    return lambda number: (
        pair,
        0,
        calldata(
            "swap(uint256,uint256,bool,address)", 10**18 + number, 1, number % 2, word(SENDER)
        ),
    )


def storage(stage: Stage) -> Call:
    loops = stage.deploy("Loops")
    return lambda number: (
        loops,
        0,
        # New entries in one transaction, the same ones again in the next.
        calldata("store(uint256,uint256)", number // 2 % PAYEES * STORAGE_LOOPS, STORAGE_LOOPS),
    )


def hashes(stage: Stage) -> Call:
    loops = stage.deploy("Loops")
    return lambda _: (loops, 0, calldata("chain(uint256)", HASH_LOOPS))


CALLS: dict[str, Callable[[Stage], Call]] = {
    "transfers": transfers,
    "erc20": erc20,
    "swap": swap,
    "storage": storage,
    "hash": hashes,
}


def payee(number: int) -> bytes:
    return b"\xee" * 16 + (1 + number % PAYEES).to_bytes(4, "big")


def calldata(signature: str, *arguments: int) -> bytes:
    return keccak(signature.encode())[:4] + words(*arguments)


def words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(32, "big") for number in numbers)


def word(account: bytes) -> int:
    return int.from_bytes(account, "big")


def hexed(raw: bytes) -> str:
    return "0x" + raw.hex()


def plain_state(shown: Mapping[str, Any]) -> PlainState:
    """The state of a question."""
    state = PlainState()
    for address_text, account in shown.items():
        state.put(
            bytes.fromhex(address_text[2:]),
            nonce=account["nonce"],
            balance_wei=int(account["balance"], 16),
            code=bytes.fromhex(account["code"][2:]),
            storage=dict(entries(account["storage"])),
        )
    return state


def entries(shown: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    return ((int(key, 16), int(value, 16)) for key, value in shown.items())
