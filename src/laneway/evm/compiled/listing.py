"""What code is compiled to before it runs: to be read, and to see what it costs. The other ways of
its branches become functions when they are taken."""

from laneway.evm.compiled.trace import function_text
from laneway.evm.fork import Fork
from laneway.evm.limits import COMPILED_BYTES_MIN, COMPILED_BYTES_PER_CODE_BYTE
from laneway.evm.machine.code import EvmCode
from laneway.evm.opcodes.table import opcode_table


def listing(raw: bytes, fork: Fork) -> dict[int, str]:
    """The functions of the first byte and of every jump destination, by their positions and in
    their order, as far as the bound of the code's text allows; the last text says where it was
    reached."""
    code, table = EvmCode(raw), opcode_table(fork)
    left = COMPILED_BYTES_MIN + COMPILED_BYTES_PER_CODE_BYTE * len(raw)
    found: dict[int, str] = {}
    for begin in dict.fromkeys((0, *code.destinations.all())):
        if left <= 0:
            found[begin] = f"# From {begin} on the interpreter runs it: the text has its bound.\n"
            break
        found[begin] = function_text(code, table, begin)
        left -= len(found[begin])
    return found
