"""Opcodes that need their frame and are worth their own text: memory, storage, hashes and logs."""

from laneway.evm.compiled.words import Word, constant
from laneway.evm.compiled.writer import TraceWriter
from laneway.evm.machine.instructions import Opcode
from laneway.evm.opcodes.hashing import WORD_GAS as HASH_WORD_GAS
from laneway.evm.opcodes.logs import BYTE_GAS as LOG_BYTE_GAS
from laneway.evm.opcodes.logs import TOPIC_GAS
from laneway.evm.opcodes.memory import COLD_KEY_GAS

ANSWERS = {
    "ADDRESS": Word("from_bytes(frame.address, 'big')", bits=160),
    "ORIGIN": Word("from_bytes(frame.context.origin, 'big')", bits=160),
    "CALLER": Word("from_bytes(frame.caller, 'big')", bits=160),
    "COINBASE": Word("from_bytes(frame.context.block.coinbase, 'big')", bits=160),
    "CALLVALUE": Word("frame.value_wei"),
    "CALLDATASIZE": Word("len(frame.data)", bits=64),
    "RETURNDATASIZE": Word("len(frame.returned)", bits=64),
    "TIMESTAMP": Word("frame.context.block.timestamp_s"),
    "NUMBER": Word("frame.context.block.number"),
}
"""Opcodes that take nothing and answer, until a call, with the same."""


class OpcodeTexts(TraceWriter):
    def _mload(self, _: Opcode) -> None:
        at = self._number(self._pop())
        end = self._reach(at, 32)
        known = self.known
        if at.number is None:
            self._settle_memory()
            self._push(self._fresh(Word(f"from_bytes(memory[{at.text}:{end}], 'big')")))
            return
        if at.number not in known.cells:
            self._settle_memory()
            for other in known.overlapping(at.number):
                del known.cells[other]
            text = f"from_bytes(memory[{at.text}:{end}], 'big')"
            known.cells[at.number] = self._fresh(Word(text))
        self._push(known.cells[at.number])

    def _mstore(self, _: Opcode) -> None:
        at, value = self._number(self._pop()), self._number(self._pop())
        end = self._reach(at, 32)
        known = self.known
        if at.number is None:
            self._settle_memory()
            known.cells.clear()
            self._write(f"memory[{at.text}:{end}] = {self._raw(value)}")
            return
        others = known.overlapping(at.number)
        if others:
            self._settle_memory()
            for other in others:
                del known.cells[other]
        known.cells[at.number] = value
        known.dirty[at.number] = None

    def _calldataload(self, _: Opcode) -> None:
        at = self._number(self._pop())
        end = str(at.number + 32) if at.number is not None else f"{at.text} + 32"
        text = f"from_bytes(frame.data[{at.text}:{end}].ljust(32, b'\\0'), 'big')"
        self._push(self._named(Word(text)))

    def _keccak(self, _: Opcode) -> None:
        """Of a range that is known: its price is known as well."""
        at, size = self._pop().number, self._pop().number
        assert at is not None
        assert size is not None
        self.known.gas += HASH_WORD_GAS * ((size + 31) // 32)
        text, is_same = self._read(at, size)
        cells = self.known.cells_of(at, size) if is_same else None
        if cells is not None and len(cells) == 2 and cells[1].number is not None:
            self._push(self._named(Word(f"mapping_key({text})")))
        else:
            word = Word(f"from_bytes(keccak_256({text}).digest(), 'big')")
            self._push(self._named(word) if is_same else self._fresh(word))

    def _own_storage(self) -> None:
        if not self._has_storage:
            self._write("storage = frame.storage or frame.own_storage()")
            self._has_storage = True

    def _sload(self, _: Opcode) -> None:
        key = self._number(self._pop())
        known = self.known
        if key.text in known.slots:
            self._push(known.slots[key.text])
            return
        self._charge()
        self._own_storage()
        if key.text not in known.warm:
            self._write(
                f"if {key.text} not in storage.warm:",
                f"    frame.context.journal.warm_key(storage, {key.text})",
                f"    gas -= {COLD_KEY_GAS}",
                "    if gas < 0:",
                "        raise OutOfGas",
            )
            known.warm[key.text] = None
        value = self._fresh(Word(f"storage.now.get({key.text})"))
        self._write(f"if {value.text} is None:", f"    {value.text} = storage.load({key.text})")
        known.slots[key.text] = value
        self._push(value)

    def _sstore(self, _: Opcode) -> None:
        key, value = self._number(self._pop()), self._number(self._pop())
        self._charge()
        self._write(f"gas = stored(frame, {key.text}, {value.text}, gas)")
        # Two keys whose text differs may be the same number.
        self.known.slots = {key.text: value}
        self.known.warm[key.text] = None

    def _gas(self, _: Opcode) -> None:
        self._charge()
        self._push(self._fresh(Word("gas", bits=64)))

    def _msize(self, _: Opcode) -> None:
        known = self.known
        if known.has_all_memory:
            self._push(constant(known.least_bytes))
        else:
            self._push(self._fresh(Word("len(memory)", bits=64)))

    def _log(self, opcode: Opcode) -> None:
        at, size = self._pop().number, self._pop().number
        assert at is not None
        assert size is not None
        topics = [self._raw(self._number(self._pop())) for _ in range(opcode.pops - 2)]
        self._charge()
        self._write("if frame.is_static:", "    raise WriteInStaticCall")
        self.known.gas += TOPIC_GAS * len(topics) + LOG_BYTE_GAS * size
        text, is_same = self._read(at, size)
        shown = f"({', '.join(topics)},)" if topics else "()"
        log = f"EvmLog(frame.address, {shown}, {text if is_same else f'bytes({text})'})"
        self._write(f"frame.context.journal.logs.append({log})")


SPECIAL = {
    "MLOAD": OpcodeTexts._mload,
    "MSTORE": OpcodeTexts._mstore,
    "CALLDATALOAD": OpcodeTexts._calldataload,
    "SLOAD": OpcodeTexts._sload,
    "SSTORE": OpcodeTexts._sstore,
    "KECCAK256": OpcodeTexts._keccak,
    "GAS": OpcodeTexts._gas,
    "MSIZE": OpcodeTexts._msize,
    **{f"LOG{count}": OpcodeTexts._log for count in range(5)},
}
"""Opcodes that need their frame, and have a text of their own."""
RANGES = frozenset(("KECCAK256", "LOG0", "LOG1", "LOG2", "LOG3", "LOG4", "RETURN", "REVERT"))
"""Opcodes that read the range of memory which the two highest words name."""
