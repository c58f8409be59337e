"""How frames begin and end, and what their callers get."""

from typing import Any

import pytest
from msgspec import structs
from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene, assemble, pushed

from laneway.evm.keccak import keccak
from laneway.evm.limits import CODE_BYTES_MAX, NEVER_COMPILED
from laneway.evm.machine.calls import execute
from laneway.evm.machine.code import EvmCode
from laneway.evm.machine.frame import CallFrame
from laneway.evm.machine.targets import NO_CODE, CallTarget
from laneway.evm.precompiles.table import Precompile
from laneway.evm.state.view import StateAccount

ECHO = Precompile("echo", len, lambda data: data)
BROKEN = Precompile("broken", lambda data: 7, lambda data: None)


def calling(scene: Scene, target: CallTarget, **fields: Any) -> CallFrame:
    frame = CallFrame(
        scene.context(), target=target, kind="CALL", caller=SENDER, address=OTHER, **fields
    )
    execute(frame)
    return frame


def created(scene: Scene, returned: bytes, *, gas: int = 10_000_000) -> CallFrame:
    """A creation whose initcode returns this."""
    code = assemble("raw:" + pushed_copy(returned).hex())
    frame = scene.frame(code, kind="CREATE", gas=gas)
    execute(frame)
    return frame


def pushed_copy(data: bytes) -> bytes:
    """Code that returns what stands after it."""
    head = b"\x61" + len(data).to_bytes(2, "big") + b"\x80" + pushed(b"\x0c") + b"\x5f\x39\x5f\xf3"
    return head.ljust(12, b"\0") + data


def test_value_moves_when_a_frame_begins_and_back_if_it_fails() -> None:
    scene = Scene()
    good = calling(scene, CallTarget(OTHER, NO_CODE), gas=1, transferred_wei=5)
    assert good.is_good()
    assert scene.journal.account(OTHER).balance_wei == 5
    failed = calling(scene, CallTarget(OTHER, NO_CODE, BROKEN), gas=9, transferred_wei=5)
    assert (failed.gas, failed.output) == (0, b"")
    assert scene.journal.account(OTHER).balance_wei == 5


def test_a_call_without_value_deletes_an_empty_account() -> None:
    scene = Scene()
    scene.state.accounts[OTHER] = StateAccount()
    calling(scene, CallTarget(OTHER, NO_CODE))
    assert scene.journal.write_set().accounts == {OTHER: None}


def test_a_precompile_costs_its_gas_and_returns_its_output() -> None:
    frame = calling(Scene(), CallTarget(OTHER, NO_CODE, ECHO), gas=5, data=b"abc")
    assert (frame.gas, frame.output) == (2, b"abc")
    poor = calling(Scene(), CallTarget(OTHER, NO_CODE, ECHO), gas=2, data=b"abc")
    assert poor.halt is not None
    assert poor.halt.reason == "out of gas"
    broken = calling(Scene(), CallTarget(OTHER, NO_CODE, BROKEN), gas=9)
    assert broken.halt is not None
    assert broken.halt.reason == "precompiled contract failed"


def test_what_a_reverted_frame_did_is_taken_back_and_its_gas_is_not() -> None:
    scene = Scene()
    journal = scene.journal
    before = (len(journal.logs), journal.refund)
    frame = scene.run("1 1 SSTORE 0 0 LOG0 7 0 MSTORE8 1 0 REVERT", gas=100_000)
    assert (frame.is_reverted, frame.output) == (True, b"\x07")
    assert frame.gas > 0
    assert (len(journal.logs), journal.refund) == before
    assert journal.storage(CONTRACT).load(1) == 0


def test_a_creation_deploys_what_it_returns() -> None:
    scene = Scene()
    frame = created(scene, b"\x00\x01")
    assert frame.is_good()
    assert scene.journal.code(CONTRACT) == b"\x00\x01"
    assert scene.journal.account(CONTRACT).nonce == 1
    assert CONTRACT in scene.journal.created


@pytest.mark.parametrize(
    ("returned", "gas", "reason"),
    [
        (b"\xef", 10_000_000, "invalid code: must not begin with 0xef"),
        (bytes(CODE_BYTES_MAX + 1), 10_000_000, "max code size exceeded"),
        (bytes(100), 15_000, "out of gas"),
    ],
)
def test_code_that_cannot_be_deployed_fails_its_creation(
    returned: bytes, gas: int, reason: str
) -> None:
    scene = Scene()
    frame = created(scene, returned, gas=gas)
    assert frame.halt is not None
    assert (frame.halt.reason, frame.gas) == (reason, 0)
    assert scene.journal.write_set().accounts == {}


def test_the_largest_code_is_deployed() -> None:
    scene = Scene()
    assert created(scene, bytes(CODE_BYTES_MAX)).is_good()


CALL_OTHER = "32 0 0 0 0 0x" + OTHER.hex() + " 50000 CALL"


@pytest.mark.parametrize(
    ("code", "succeeded", "returned"),
    [
        ("7 0 MSTORE 32 0 RETURN", 1, 7),
        ("7 0 MSTORE 32 0 REVERT", 0, 7),
        ("7 0 MSTORE INVALID", 0, None),
    ],
)
def test_a_caller_gets_the_end_and_the_output_of_its_call(
    code: str, succeeded: int, returned: int | None
) -> None:
    scene = Scene()
    scene.put(OTHER, code)
    frame = scene.run(CALL_OTHER + " RETURNDATASIZE")
    assert frame.stack == [succeeded, 0 if returned is None else 32]
    assert frame.memory[:32] == (returned or 0).to_bytes(32, "big")


@pytest.mark.parametrize(("size", "kept"), [(1, b"\x07"), (0, b"")])
def test_only_as_much_of_the_output_is_written_as_the_caller_asked_for(
    size: int, kept: bytes
) -> None:
    scene = Scene()
    scene.put(OTHER, "7 0 MSTORE8 32 0 RETURN")
    frame = scene.run(f"{size} 0 0 0 0 0x{OTHER.hex()} 50000 CALL RETURNDATASIZE")
    assert bytes(frame.memory[:1]) == kept
    assert frame.stack == [1, 32]


INIT = "0 MSTORE 4 28 "


def test_a_creator_gets_the_address_or_the_reason() -> None:
    scene = Scene()
    scene.put(CONTRACT, nonce=1)
    good = scene.run("0 0 0 CREATE RETURNDATASIZE")
    assert good.stack[0] > 0
    assert good.stack[1] == 0
    # Initcode 5f5ffd is PUSH0 PUSH0 REVERT, and 5f60 is a push that reverts with a byte.
    bad = scene.run("0x60015ffd 0 MSTORE 4 28 0 CREATE RETURNDATASIZE")
    assert bad.stack == [0, 1]
    halted = scene.run("0xfe 0 MSTORE 1 31 0 CREATE RETURNDATASIZE")
    assert halted.stack == [0, 0]


def test_a_thousand_calls_deep_is_no_recursion_of_python() -> None:
    scene = Scene()
    scene.put(CONTRACT, "0 0 0 0 0 ADDRESS GAS CALL 1 ADD 0 SSTORE")
    frame = scene.frame(scene.state.code(CONTRACT), gas=10**15)
    execute(frame)
    assert frame.is_good()
    assert scene.journal.storage(CONTRACT).load(0) == 2


def test_a_frame_that_halted_after_it_asked_for_a_child_runs_none() -> None:
    """No opcode does both; a child of a halted frame would run for nobody."""
    scene = Scene()
    scene.put(OTHER, "1 1 SSTORE")
    frame = scene.run(CALL_OTHER, gas=100)
    assert frame.halt is not None
    assert scene.journal.storage(OTHER).load(1) == 0


def test_what_a_frame_spends_on_itself_is_the_credit_of_its_code() -> None:
    scene = Scene()
    scene.put(OTHER, "1 2 ADD POP")
    frame = scene.run("1 POP")
    assert frame.code.credit_gas == 5
    raw = assemble("1 2 ADD POP")
    target = scene.context().codes.get(keccak(raw), raw)
    before = target.credit_gas
    caller = scene.run(CALL_OTHER)
    earned = target.credit_gas - before
    assert caller.code.credit_gas + earned == 1_000_000 - caller.gas
    assert earned == 11


def test_code_is_compiled_when_it_has_the_credit_and_never_where_it_must_not() -> None:
    scene = Scene()
    code = EvmCode(assemble("1 POP"))

    def ran(compiled_after: int) -> object:
        frame = scene.frame(context=scene.context(compiled_after=compiled_after))
        frame.code = code
        execute(frame)
        assert frame.is_good()
        return code.compiled

    assert ran(6) is None
    assert ran(6) is None, "five are too few"
    assert ran(6) is not None
    code.compiled, code.credit_gas = None, 10**9
    assert ran(NEVER_COMPILED) is None
    assert ran(10**10) is None
    assert ran(0) is not None
    assert ran(NEVER_COMPILED) is not None, "others run it compiled, and this one does not"


def test_a_tracer_runs_the_frames_in_place_of_the_loop() -> None:
    class Idle:
        def execute(self, frame: CallFrame) -> None:
            frame.output = b"seen"

    frame = Scene().frame("INVALID")
    frame.context = structs.replace(frame.context, tracer=Idle())
    execute(frame)
    assert (frame.halt, frame.output) == (None, b"seen")
