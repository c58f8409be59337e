"""The calls of a transaction as a tree, with what go-ethereum's callTracer shows of each."""

from msgspec import Struct, field

from laneway.evm.abi.reverts import builtin_reason
from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.limits import TRACED_BYTES_MAX, TRACED_STEP_BYTES
from laneway.evm.machine.frame import CallFrame
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.tracing.watch import CallBeginning, TransactionTracer

REVERTED = "execution reverted"


class CallNode(Struct):
    """A call, a creation, or what SELFDESTRUCT handed over."""

    kind: str
    sender: bytes
    to: bytes | None
    """None of a creation that failed."""
    data: bytes
    gas: int
    value_wei: int | None
    """None of a STATICCALL."""
    gas_used: int = 0
    output: bytes = b""
    """Of a creation: the code."""
    error: str = ""
    calls: list["CallNode"] = field(default_factory=list)
    logs: list[tuple[int, EvmLog]] = field(default_factory=list)
    """Each after the number of calls that came before it. None of a frame that failed."""

    @property
    def revert_reason(self) -> str | None:
        """The text of Error(string), if it reverted with one."""
        return builtin_reason(self.output) if self.error == REVERTED else None


class CallTreeTracer(TransactionTracer):
    def __init__(self, *, with_logs: bool = False, bytes_max: int = TRACED_BYTES_MAX) -> None:
        self.root: CallNode | None = None
        self.is_cut = False
        """Whether there were more calls, or longer outputs, than are kept."""
        self._bytes_left = bytes_max
        self._open: list[CallNode] = []
        self._with_logs = with_logs

    def tree(self, receipt: EvmReceipt, gas_limit: int) -> CallNode:
        """All calls; the outermost has the transaction's gas, as callTracer shows it."""
        root = self.root
        assert root is not None, "no transaction was traced"
        root.gas, root.gas_used = gas_limit, receipt.gas_used
        return root

    def entered(self, beginning: CallBeginning) -> None:
        node = node_of(beginning)
        if self._open:
            self._add(node)
        else:
            self.root = node
        self._open.append(node)

    def left(self, frame: CallFrame) -> None:
        node = self._open.pop()
        node.gas_used = node.gas - frame.gas
        if self._is_kept(len(frame.output)):
            node.output = frame.output
        if not frame.is_good():
            node.error = frame.halt.reason if frame.halt is not None else REVERTED
            if frame.is_creation:
                node.to = None
            forget_logs(node)

    def refused(self, beginning: CallBeginning, problem: str, lost: int) -> None:
        node = node_of(beginning)
        node.error, node.gas_used = problem, lost
        if node.kind.startswith("CREATE"):
            node.to = None
        self._add(node)

    def destroyed(self, frame: CallFrame, beneficiary: bytes, wei: int) -> None:
        node = CallNode("SELFDESTRUCT", frame.address, beneficiary, b"", 0, wei)
        self._add(node)

    def _add(self, node: CallNode) -> None:
        if self._is_kept(TRACED_STEP_BYTES + len(node.data)):
            self._open[-1].calls.append(node)

    def _is_kept(self, size: int) -> bool:
        self._bytes_left -= size
        self.is_cut = self.is_cut or self._bytes_left < 0
        return not self.is_cut

    def logged(self, log: EvmLog) -> None:
        if self._with_logs:
            node = self._open[-1]
            node.logs.append((len(node.calls), log))


def node_of(beginning: CallBeginning) -> CallNode:
    return CallNode(
        beginning.kind,
        beginning.sender,
        beginning.to,
        beginning.data,
        beginning.gas,
        beginning.value_wei,
    )


def forget_logs(failed: CallNode) -> None:
    """Of a frame that failed, and of all that it called."""
    nodes = [failed]
    while nodes:
        node = nodes.pop()
        node.logs.clear()
        nodes += node.calls
