"""A small world for tests of the EVM: accounts, a block, and code written as words."""

from typing import Any

import msgspec

from laneway.evm.execution.block import EvmExecution
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.fork import Fork
from laneway.evm.machine.calls import execute
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.context import BlockContext, TransactionContext
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.targets import CallTarget
from laneway.evm.opcodes.table import opcode_table
from laneway.evm.rules import BlobSchedule, rules_of
from laneway.evm.state.journal import StateJournal
from laneway.evm.state.plain import PlainState
from laneway.evm.transaction import DynamicFeeTransaction, Transaction

SENDER = b"\xaa" * 20
OTHER = b"\x0e" * 20
CONTRACT = b"\xcc" * 20
COINBASE = b"\xc0" * 20
WORD_MAX = (1 << 256) - 1

BLOCK = BlockContext(
    number=300,
    timestamp_s=1_700_000_000,
    coinbase=COINBASE,
    gas_limit=30_000_000,
    base_fee_wei=7,
    prevrandao=b"\x44" * 32,
    blob_base_fee_wei=3,
    chain_id=1,
    block_hash=lambda number: number.to_bytes(32, "big"),
)


def assemble(text: str, fork: Fork = Fork.OSAKA) -> bytes:
    """Code from words: names of opcodes, numbers that are pushed in as few bytes as they need,
    `0x…` that is pushed as it stands, and `raw:…` in hex that is taken as it is."""
    numbers = {opcode.name: number for number, opcode in opcode_table(fork).known.items()}
    code = b""
    for word in text.split():
        if word.startswith("raw:"):
            code += bytes.fromhex(word[4:])
        elif word.startswith("0x"):
            code += pushed(bytes.fromhex(word[2:]))
        elif word.isdigit():
            number = int(word)
            code += pushed(number.to_bytes((number.bit_length() + 7) // 8, "big"))
        else:
            code += bytes([numbers[word]])
    return code


def pushed(data: bytes) -> bytes:
    return bytes([0x5F + len(data)]) + data


def returns(text: str) -> bytes:
    """Code that returns the word which this one leaves on the stack."""
    return assemble(f"{text} 0 MSTORE 32 0 RETURN")


class Scene:
    """A state with a rich sender, and a block that transactions are executed in."""

    def __init__(
        self,
        *,
        fork: Fork = Fork.OSAKA,
        blobs: BlobSchedule | None = None,
        **block: Any,
    ) -> None:
        self.state = PlainState()
        self.state.put(SENDER, balance_wei=10**24)
        self.rules = rules_of(fork, blobs)
        self.block = msgspec.structs.replace(BLOCK, **block)
        self._execution: EvmExecution | None = None

    @property
    def execution(self) -> EvmExecution:
        """The accounts are put before it is asked for."""
        if self._execution is None:
            self._execution = EvmExecution(StateJournal(self.state), self.block, self.rules)
        return self._execution

    @property
    def journal(self) -> StateJournal:
        return self.execution.journal

    def put(self, address: bytes = CONTRACT, code: bytes | str = b"", **fields: Any) -> None:
        raw = assemble(code, self.rules.fork) if isinstance(code, str) else code
        self.state.put(address, code=raw, **fields)

    def transact(
        self, to: bytes | None = CONTRACT, data: bytes = b"", sender: bytes = SENDER, **fields: Any
    ) -> EvmReceipt:
        """A transaction of type 2 with the account's next nonce, unless the fields differ."""
        nonce = self.journal.account(sender).nonce
        made = DynamicFeeTransaction(
            **(
                {"chain_id": 1, "nonce": nonce, "tip_wei_max": 1, "fee_wei_max": 100}
                | BASE
                | fields
            ),
            to=to,
            data=data,
        )
        return self.execution.transact(made, sender)

    def send(self, transaction: Transaction, sender: bytes = SENDER) -> EvmReceipt:
        return self.execution.transact(transaction, sender)

    def context(self, **fields: Any) -> TransactionContext:
        context = self.execution.context(SENDER, price_wei=8)
        return msgspec.structs.replace(context, **fields)

    def frame(self, code: bytes | str = b"", *, gas: int = 1_000_000, **fields: Any) -> CallFrame:
        """A frame of the contract that has not begun."""
        raw = assemble(code, self.rules.fork) if isinstance(code, str) else code
        context = fields.pop("context", None) or self.context()
        given = {"kind": "CALL", "caller": SENDER, "address": CONTRACT} | fields
        return CallFrame(context, target=CallTarget(CONTRACT, EvmCode(raw)), gas=gas, **given)

    def run(self, code: bytes | str, **fields: Any) -> CallFrame:
        """A frame that ran to its end."""
        frame = self.frame(code, **fields)
        execute(frame)
        return frame


BASE: dict[str, Any] = {"gas_limit": 1_000_000}


def word_of(
    code: str, *, fork: Fork = Fork.OSAKA, scene: Scene | None = None, **fields: Any
) -> int:
    """The word that this code leaves on the stack."""
    frame = (scene or Scene(fork=fork)).run(returns(code), **fields)
    assert frame.is_good(), frame.halt and frame.halt.reason
    return int.from_bytes(frame.output, "big")


def gas_of(code: str, *, scene: Scene | None = None, **fields: Any) -> int:
    """The gas that this code uses."""
    frame = (scene or Scene()).run(code, gas=1_000_000, **fields)
    assert frame.is_good(), frame.halt and frame.halt.reason
    return 1_000_000 - frame.gas


def halt_of(code: str, *, scene: Scene | None = None, **fields: Any) -> str:
    """Why this code halts."""
    frame = (scene or Scene()).run(code, **fields)
    assert frame.halt is not None
    return frame.halt.reason
