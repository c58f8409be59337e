"""0xA0s: logs."""

from collections.abc import Callable

from msgspec import Struct

from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import WriteInStaticCall

TOPIC_GAS = 375
BYTE_GAS = 8


class EvmLog(Struct, frozen=True, gc=False):
    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


def log(topic_count: int) -> Callable[[CallFrame], None]:
    """The opcode that logs with this many topics."""

    def write_log(frame: CallFrame) -> None:
        if frame.is_static:
            raise WriteInStaticCall
        stack = frame.stack
        at, size = stack.pop(), stack.pop()
        topics = tuple([stack.pop().to_bytes(32, "big") for _ in range(topic_count)])
        frame.charge(TOPIC_GAS * topic_count + BYTE_GAS * size)
        frame.extend(at, size)
        frame.context.journal.logs.append(EvmLog(frame.address, topics, frame.read(at, size)))

    return write_log
