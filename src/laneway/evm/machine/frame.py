"""One call or creation: its stack, memory, gas and code, and how it ended."""

from laneway.evm.machine.context import TransactionContext
from laneway.evm.machine.halts import Halt, OutOfGas
from laneway.evm.machine.targets import CallTarget
from laneway.evm.state.journal import StorageJournal

WORD_BYTES = 32
MEMORY_WORD_GAS = 3
MEMORY_QUADRATIC_DIVISOR = 512


class CallFrame:
    __slots__ = (
        "address",
        "caller",
        "child",
        "code",
        "code_address",
        "context",
        "data",
        "depth",
        "gas",
        "halt",
        "is_creation",
        "is_reverted",
        "is_static",
        "kind",
        "logs_mark",
        "memory",
        "memory_gas",
        "output",
        "output_at",
        "output_size",
        "pc",
        "precompile",
        "refund_mark",
        "returned",
        "stack",
        "storage",
        "transferred_wei",
        "undo_mark",
        "value_wei",
    )

    def __init__(
        self,
        context: TransactionContext,
        *,
        kind: str,
        target: CallTarget,
        caller: bytes,
        address: bytes,
        data: bytes = b"",
        gas: int = 0,
        value_wei: int = 0,
        transferred_wei: int = 0,
        depth: int = 0,
        is_static: bool = False,
        output_at: int = 0,
        output_size: int = 0,
    ) -> None:
        self.context = context
        self.kind = kind
        """The opcode that began it, as traces name it."""
        self.is_creation = kind.startswith("CREATE")
        self.caller = caller
        self.address = address
        """Whose storage and balance it uses."""
        self.code_address, self.code, self.precompile = target
        self.data = data
        self.gas = gas
        self.value_wei = value_wei
        """What CALLVALUE answers."""
        self.transferred_wei = transferred_wei
        """What moves when it begins: nothing in a DELEGATECALL, whatever it says."""
        self.depth = depth
        self.is_static = is_static
        self.output_at = output_at
        self.output_size = output_size
        """Where in its caller's memory the output goes."""
        self.stack: list[int] = []
        self.memory = bytearray()
        self.memory_gas = 0
        self.pc = 0
        self.returned = b""
        """What the last call that this frame made returned."""
        self.storage: StorageJournal | None = None
        self.child: CallFrame | None = None
        """The frame that runs before this one goes on."""
        self.output = b""
        self.is_reverted = False
        self.halt: Halt | None = None
        self.undo_mark = self.logs_mark = self.refund_mark = 0

    def charge(self, gas: int) -> None:
        self.gas -= gas
        if self.gas < 0:
            raise OutOfGas

    def extend(self, at: int, size: int) -> None:
        """Have memory for this range and pay for it; nothing for an empty range, wherever it is."""
        if size:
            end = at + size
            if end > len(self.memory):
                words = (end + WORD_BYTES - 1) // WORD_BYTES
                gas = MEMORY_WORD_GAS * words + words * words // MEMORY_QUADRATIC_DIVISOR
                self.gas -= gas - self.memory_gas
                if self.gas < 0:
                    raise OutOfGas
                self.memory_gas = gas
                self.memory.extend(bytes(words * WORD_BYTES - len(self.memory)))

    def read(self, at: int, size: int) -> bytes:
        """A range that memory has."""
        return bytes(self.memory[at : at + size]) if size else b""

    def write(self, at: int, data: bytes) -> None:
        """Into a range that memory has."""
        if data:
            self.memory[at : at + len(data)] = data

    def own_storage(self) -> StorageJournal:
        storage = self.storage
        if storage is None:
            storage = self.storage = self.context.journal.storage(self.address)
        return storage

    def is_good(self) -> bool:
        """Whether it ended, and what it did stays."""
        return self.halt is None and not self.is_reverted
