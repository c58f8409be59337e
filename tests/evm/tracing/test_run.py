"""A traced run is the run itself, one opcode at a time."""

from typing import Any

import pytest
from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene, assemble, returns

from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.fork import Fork
from laneway.evm.limits import CALL_DEPTH_MAX, NONCE_MAX
from laneway.evm.machine.calls import execute
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.halts import Halt
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.opcodes.system import created_address
from laneway.evm.state.changes import ReadSet, WriteSet
from laneway.evm.tracing.run import TracedRun
from laneway.evm.tracing.watch import CallBeginning, StepBefore, TransactionTracer

Refused = tuple[CallBeginning, str, int]


class Everything(TransactionTracer):
    """Writes down all that it is shown."""

    def __init__(self) -> None:
        self.costs: list[tuple[str, int]] = []
        self.began: list[CallBeginning] = []
        self.gas_left: list[int] = []
        self.not_begun: list[Refused] = []
        self.logs: list[EvmLog] = []
        self.handed_over: list[tuple[bytes, int]] = []
        self.halts: list[str] = []

    def stepped(self, frame: CallFrame, before: StepBefore, cost: int, halt: Halt | None) -> None:
        known = frame.context.opcodes.known.get(before.op)
        self.costs.append((known.name if known else "", cost))
        if halt is not None:
            self.halts.append(halt.reason)

    def entered(self, beginning: CallBeginning) -> None:
        self.began.append(beginning)

    def left(self, frame: CallFrame) -> None:
        self.gas_left.append(frame.gas)

    def refused(self, beginning: CallBeginning, problem: str, lost: int) -> None:
        self.not_begun.append((beginning, problem, lost))

    def logged(self, log: EvmLog) -> None:
        self.logs.append(log)

    def destroyed(self, frame: CallFrame, beneficiary: bytes, wei: int) -> None:
        self.handed_over.append((beneficiary, wei))


def transacted(scene: Scene, *tracers: TransactionTracer, **fields: Any) -> EvmReceipt:
    scene.execution.tracer = TracedRun(*tracers) if tracers else None
    return scene.transact(**fields)


def both(code: str, to: str = "", **fields: Any) -> Everything:
    """Run it traced and untraced, which must be the same, and return what was shown."""
    seen = Everything()
    results: list[tuple[EvmReceipt, WriteSet, ReadSet]] = []
    for tracers in ((), (seen, TransactionTracer())):
        scene = Scene(fork=fields.get("fork", Fork.OSAKA))
        scene.put(CONTRACT, code, balance_wei=10, storage={1: 5})
        scene.put(OTHER, to)
        given = {name: value for name, value in fields.items() if name != "fork"}
        receipt = transacted(scene, *tracers, **given)
        results.append((receipt, scene.journal.write_set(), scene.journal.read_set()))
    assert results[0] == results[1]
    return seen


def costs(code: str, to: str = "", **fields: Any) -> dict[str, int]:
    """The last cost of each opcode."""
    return dict(both(code, to, **fields).costs)


@pytest.mark.parametrize(
    ("code", "name", "cost"),
    [
        ("1 2 ADD", "ADD", 3),
        ("PUSH0", "PUSH0", 2),
        ("1 DUP1", "DUP1", 3),
        ("1 2 SWAP1", "SWAP1", 3),
        ("3 JUMP JUMPDEST", "JUMP", 8),
        ("3 JUMP JUMPDEST", "JUMPDEST", 1),
        ("0 5 JUMPI", "JUMPI", 10),
        ("1 5 JUMPI JUMPDEST", "JUMPI", 10),
        ("1 32 MSTORE", "MSTORE", 9),
        ("1 SLOAD", "SLOAD", 2_100),
        ("0 1 SSTORE", "SSTORE", 5_000),
        ("3 0 LOG0", "LOG0", 375 + 24 + 3),
        ("1 2 EXP", "EXP", 60),
        ("GAS", "GAS", 2),
        ("32 0 0 CREATE", "CREATE", 32_000 + 3 + 2),
        ("0 32 0 0 CREATE2", "CREATE2", 32_000 + 3 + 8),
        ("5 BALANCE", "BALANCE", 100),
        ("0x" + OTHER.hex() + " EXTCODESIZE", "EXTCODESIZE", 2_600),
        ("1", "STOP", 0),
    ],
)
def test_each_step_shows_what_it_cost(code: str, name: str, cost: int) -> None:
    assert costs(code)[name] == cost


TO = "0x" + OTHER.hex()


@pytest.mark.parametrize(
    ("code", "name", "cost", "gas"),
    [
        (f"0 0 0 0 0 {TO} 5000 CALL", "CALL", 2_600 + 5_000, 5_000),
        (f"0 0 0 0 1 {TO} 5000 CALL", "CALL", 2_600 + 9_000 + 25_000 + 5_000, 7_300),
        (f"0 0 0 0 1 {TO} 5000 CALLCODE", "CALLCODE", 2_600 + 9_000 + 5_000, 7_300),
        (f"0 0 0 0 {TO} 5000 DELEGATECALL", "DELEGATECALL", 7_600, 5_000),
        (f"0 0 0 0 {TO} 5000 STATICCALL", "STATICCALL", 7_600, 5_000),
        ("0 0 0 0 0 4 5000 CALL", "CALL", 5_100, 5_000),
    ],
)
def test_a_call_costs_what_it_hands_over_too_and_no_stipend(
    code: str, name: str, cost: int, gas: int
) -> None:
    seen = both(code)
    assert dict(seen.costs)[name] == cost
    assert seen.began[1].gas == gas


def test_a_frame_is_shown_as_its_caller_asked_for_it() -> None:
    code = (
        "7 0 MSTORE "
        f"0 0 1 31 2 {TO} 9000 CALL 0 0 1 31 3 {TO} 9000 CALLCODE "
        f"0 0 1 31 {TO} 9000 DELEGATECALL 0 0 1 31 {TO} 9000 STATICCALL"
    )
    seen = both(code, "1 POP", value_wei=4)
    shown = [(one.kind, one.sender, one.to, one.data, one.value_wei) for one in seen.began]
    assert shown == [
        ("CALL", SENDER, CONTRACT, b"", 4),
        ("CALL", CONTRACT, OTHER, b"\7", 2),
        ("CALLCODE", CONTRACT, OTHER, b"\7", 3),
        ("DELEGATECALL", CONTRACT, OTHER, b"\7", 4),
        ("STATICCALL", CONTRACT, OTHER, b"\7", None),
    ]
    assert [one.depth for one in seen.began] == [0, 1, 1, 1, 1]
    assert len(seen.gas_left) == 5


def test_a_creation_is_shown_with_its_code_and_address() -> None:
    initcode = assemble("0 0 RETURN")
    code = f"0x{initcode.hex()} 0 MSTORE 3 29 1 CREATE"
    seen = both(code)
    inner = seen.began[1]
    assert (inner.kind, inner.data, inner.value_wei) == ("CREATE", initcode, 1)
    assert inner.to == created_address(CONTRACT, 0)
    outer = both("STOP", to="", data=initcode).began
    assert outer[0].kind == "CALL"


def test_a_transaction_that_creates_is_shown_with_its_code() -> None:
    seen, scene = Everything(), Scene()
    initcode = returns("1")
    receipt = transacted(scene, seen, to=None, data=initcode)
    assert (seen.began[0].kind, seen.began[0].data) == ("CREATE", initcode)
    assert seen.began[0].to == receipt.contract


def test_code_that_is_empty_has_no_steps() -> None:
    assert both("").costs == []
    assert [name for name, _ in both(f"0 0 0 0 0 {TO} GAS CALL").costs][-1] == "STOP"


def test_a_precompile_is_a_frame_without_steps() -> None:
    seen = both("0 0 0 0 0 6 100 CALL")
    assert [one.kind for one in seen.began] == ["CALL", "CALL"]
    assert seen.gas_left[0] == 0, "too little gas for it"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("ADD", "stack underflow"),
        ("1 JUMP", "invalid jump destination"),
        ("1 1 JUMPI", "invalid jump destination"),
        ("JUMPDEST PUSH0 PUSH0 JUMP", "stack limit reached 1024"),
        ("INVALID", "invalid opcode"),
        ("raw:0c", "invalid opcode"),
        ("JUMPDEST 0 JUMP", "out of gas"),
    ],
)
def test_the_step_that_halts_a_frame_says_why(code: str, reason: str) -> None:
    assert both(code, gas_limit=100_000).halts == [reason]


def test_logs_and_ends_of_contracts_are_shown() -> None:
    seen = both(f"0 0 LOG0 {TO} SELFDESTRUCT")
    assert seen.logs == [EvmLog(CONTRACT, (), b"")]
    assert seen.handed_over == [(OTHER, 10)]


@pytest.mark.parametrize(("asked", "handed"), [("5000", 5_000), ("0xffffffffff", None)])
def test_a_call_that_its_caller_cannot_pay_for_costs_as_if_it_had_begun(
    asked: str, handed: int | None
) -> None:
    seen = both(f"0 0 0 0 11 {TO} {asked} CALL", gas_limit=100_000)
    ((beginning, problem, lost),) = seen.not_begun
    assert (beginning.to, beginning.value_wei) == (OTHER, 11)
    assert (problem, lost) == ("insufficient balance for transfer", 0)
    left = 100_000 - 21_000 - sum(cost for name, cost in seen.costs if name.startswith("PUSH"))
    left -= 2_600 + 9_000 + 25_000
    gas = handed or left - left // 64
    assert beginning.gas == gas + 2_300
    assert dict(seen.costs)["CALL"] == 36_600 + gas


def test_a_creation_that_does_not_begin_says_why() -> None:
    seen = both("0 0 11 CREATE")
    ((beginning, problem, lost),) = seen.not_begun
    assert (beginning.kind, beginning.to, problem, lost) == (
        *("CREATE", None, "insufficient balance for transfer"),
        0,
    )
    assert dict(seen.costs)["CREATE"] == 32_000


def test_a_creator_that_cannot_count_further_creates_nothing() -> None:
    scene, seen = Scene(), Everything()
    scene.put(CONTRACT, "0 0 0 CREATE", nonce=NONCE_MAX)
    transacted(scene, seen)
    assert [problem for _, problem, _ in seen.not_begun] == ["nonce uint64 overflow"]


def test_a_creation_at_a_taken_address_loses_its_gas() -> None:
    scene, seen = Scene(), Everything()
    scene.put(CONTRACT, "0 0 0 CREATE")
    scene.put(created_address(CONTRACT, 0), nonce=1)
    transacted(scene, seen, gas_limit=100_000)
    ((beginning, problem, lost),) = seen.not_begun
    left = 100_000 - 21_000 - 53_000 + 21_000 - 6
    assert problem == "contract address collision"
    assert beginning.gas == lost == left - left // 64
    assert dict(seen.costs)["CREATE"] == 32_000


def test_a_transaction_at_a_taken_address_has_a_frame_without_steps() -> None:
    scene, seen = Scene(), Everything()
    scene.put(created_address(SENDER, 0), nonce=1)
    receipt = transacted(scene, seen, to=None, data=returns("1"))
    assert receipt.halt == "contract address collision"
    assert (len(seen.began), seen.gas_left, seen.costs) == (1, [0], [])


def test_calls_and_creations_end_at_their_depth() -> None:
    scene, seen = Scene(), Everything()
    scene.put(CONTRACT, "0 0 0 0 0 ADDRESS GAS CALL 0 0 0 CREATE")
    scene.execution.tracer = TracedRun(seen)
    frame = scene.frame("0 0 0 0 0 ADDRESS GAS CALL 0 0 0 CREATE", gas=100_000)
    # As deep as calls go, so that nothing more begins.
    frame.depth = CALL_DEPTH_MAX
    execute(frame)
    assert [(one.kind, problem) for one, problem, _ in seen.not_begun] == [
        ("CALL", "max call depth exceeded"),
        ("CREATE", "max call depth exceeded"),
    ]
    assert [one.kind for one in seen.began] == ["CALL"]


def test_a_traced_run_uses_no_compiled_code() -> None:
    scene, seen = Scene(), Everything()
    scene.put(CONTRACT, "1 2 ADD")
    for _ in range(9):
        seen.costs.clear()
        transacted(scene, seen)
    assert [name for name, _ in seen.costs] == ["PUSH1", "PUSH1", "ADD", "STOP"]
