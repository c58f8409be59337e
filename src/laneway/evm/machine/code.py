"""Code as the machine reads it: padded, its push operands decoded once, its jump destinations."""

import re
from typing import Any

from laneway.evm.limits import (
    CODE_CACHE_BYTES_MAX,
    CODE_CACHE_OVERHEAD_BYTES,
    COMPILED_TEXT_BYTES_MAX,
)

JUMPDEST = 0x5B
PUSH0 = 0x5F
PADDING = bytes(33)
"""A push at the last byte reads 32 zeros, and the byte after all code is a STOP."""

_OPCODES = re.compile(
    b"(?:[^\\x60-\\x7f]++|"
    + b"|".join(b"\\x%02x[\\x00-\\xff]{%d}" % (PUSH0 + width, width) for width in range(1, 33))
    + b")*+"
)
"""As many whole opcodes as there are, pushes with their operands."""
STEP_BYTES = 64
"""How far opcodes are followed at once; half of it is what an answer costs, below a microsecond."""


class _Pushes(dict[int, int]):
    """The operand of each push by its position, decoded when it is first executed."""

    __slots__ = ("_padded",)

    def __init__(self, padded: bytes) -> None:
        self._padded = padded

    def __missing__(self, pc: int) -> int:
        end = pc + 1 + self._padded[pc] - PUSH0
        value = self[pc] = int.from_bytes(self._padded[pc + 1 : end], "big")
        return value


class Destinations(dict[int, bool]):
    """Whether a position is a JUMPDEST that is no operand of a push. Nobody knows before it is
    asked for: hostile code jumps once and is never seen again, so it is read no further."""

    __slots__ = ("_firsts", "_raw")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._firsts = [0]
        """The first opcode of each step, or after it if a push covers all of it."""

    def __missing__(self, to: int) -> bool:
        raw, firsts = self._raw, self._firsts
        if to >= len(raw) or raw[to] != JUMPDEST:
            return False  # Not kept: a word can be more numbers than there is memory.
        step = to // STEP_BYTES
        while len(firsts) <= step:
            firsts.append(first_opcode(raw, firsts[-1], len(firsts) * STEP_BYTES))
        is_good = self[to] = first_opcode(raw, firsts[step], to) == to
        return is_good

    def all(self) -> list[int]:
        return [to for to, byte in enumerate(self._raw) if byte == JUMPDEST and self[to]]


def first_opcode(raw: bytes, begin: int, at: int) -> int:
    """The first opcode at or after a position; one begins at `begin`."""
    if begin >= at:
        return begin
    found = _OPCODES.match(raw, begin, at)
    assert found is not None, "no opcodes are some as well"
    end = found.end()
    return at if end == at else end + 1 + raw[end] - PUSH0


class EvmCode:
    """Code and what is known of it. `credit_gas` is the gas that its frames spent on themselves,
    less what was compiled for it: hot code has some, and hostile code pays for what it costs."""

    __slots__ = ("compiled", "credit_gas", "destinations", "padded", "pushes", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.padded = raw + PADDING
        self.pushes = _Pushes(self.padded)
        self.destinations = Destinations(raw)
        self.credit_gas = 0
        self.compiled: Any = None


class CodeCache:
    """Code by its hash, bounded in bytes; the half that came first makes place for what comes. What
    is compiled has a bound of its own, and the code that was compiled longest ago loses it."""

    __slots__ = ("_bytes", "_bytes_max", "_codes", "_text_bytes", "_text_bytes_max", "_texts")

    def __init__(
        self,
        bytes_max: int = CODE_CACHE_BYTES_MAX,
        text_bytes_max: int = COMPILED_TEXT_BYTES_MAX,
    ) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._codes: dict[bytes, EvmCode] = {}
        self._text_bytes_max = text_bytes_max
        self._text_bytes = 0
        self._texts: dict[EvmCode, int] = {}
        """How much text each code is compiled to; the one that grew last comes last."""

    def __len__(self) -> int:
        return len(self._codes)

    def get(self, code_hash: bytes, raw: bytes) -> EvmCode:
        found = self._codes.get(code_hash)
        if found is None:
            found = self._codes[code_hash] = EvmCode(raw)
            self._bytes += weight(raw)
            if self._bytes > self._bytes_max:
                self._make_place()
        return found

    def compiled(self, code: EvmCode, text_bytes: int) -> None:
        """Code was compiled to so much more text."""
        self._texts[code] = self._texts.pop(code, 0) + text_bytes
        self._text_bytes += text_bytes
        while self._text_bytes > self._text_bytes_max and len(self._texts) > 1:
            self._forget_compiled(next(iter(self._texts)))

    def _make_place(self) -> None:
        for code_hash in list(self._codes)[: len(self._codes) // 2]:
            code = self._codes.pop(code_hash)
            self._bytes -= weight(code.raw)
            self._forget_compiled(code)

    def _forget_compiled(self, code: EvmCode) -> None:
        self._text_bytes -= self._texts.pop(code, 0)
        code.compiled = None


def weight(raw: bytes) -> int:
    """About how much memory code takes with all that is kept of it."""
    return 4 * len(raw) + CODE_CACHE_OVERHEAD_BYTES
