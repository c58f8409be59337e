"""Why a check went red is judged from the exception itself, with everything that caused it."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_never

import pytest
from scripts import failures, seeds
from scripts.failures import Failure, Stops, failure_of

from laneway.core.errors import Bug, StoreBusy
from laneway.lanes.contract import machine
from laneway.sim.run import run_world
from laneway.sim.world import LawBroken

ROOT = Path(__file__).parent.parent


def raised(act: Callable[[], object]) -> BaseException:
    try:
        act()
    except BaseException as error:  # noqa: BLE001 - pytest's own are BaseExceptions.
        return error
    raise AssertionError("it raises nothing")


def throw(error: BaseException, *, cause: BaseException | None = None) -> Callable[[], object]:
    def act() -> None:
        raise error from cause

    return act


def nested(inner: BaseException, outer: BaseException) -> Callable[[], object]:
    """The outer one is raised while the inner one is handled."""

    def act() -> None:
        try:
            raise inner
        except BaseException:  # noqa: BLE001 - it is raised on.
            raise outer  # noqa: B904 - the context is what is tested.

    return act


def wrong_call() -> None:
    call: Any = throw
    call()


def miscount() -> None:
    slots: list[int] = []
    (_slot,) = slots


def miscounted_by_another() -> None:
    exec(compile("(slot,) = ()", "/laneway/engine/run.py", "exec"))


def not_raised() -> None:
    with pytest.raises(ValueError):
        pass


def unreachable() -> None:
    value: Any = "a new event"
    assert_never(value)


@pytest.mark.parametrize(
    ("act", "name"),
    [
        (throw(AssertionError("one is not two")), "AssertionError"),
        (throw(LawBroken("never twice: d1")), "LawBroken"),
        (throw(LawBroken("stopped by a bug"), cause=Bug("has an answer already")), "Bug"),
        (throw(LawBroken("stopped by a bug"), cause=AssertionError()), "AssertionError"),
        (throw(Bug("rows contradict each other"), cause=KeyError("row")), "Bug"),
        (lambda: pytest.fail("it should wait"), "Failed"),
        (not_raised, "Failed"),
        (miscount, "ValueError"),
        (nested(KeyError("a"), AssertionError("the row is gone")), "AssertionError"),
    ],
)
def test_a_failed_law_or_assertion_is_one(act: Callable[[], object], name: str) -> None:
    assert failure_of(raised(act)) == Failure("assertion", name)


@pytest.mark.parametrize(
    ("act", "name"),
    [
        (wrong_call, "TypeError"),
        (lambda: compile("def :", "code", "exec"), "SyntaxError"),
        (lambda: compile("if x:\npass", "code", "exec"), "IndentationError"),
        (lambda: __import__("laneway.no_such"), "ModuleNotFoundError"),
        (lambda: eval("no_such_name"), "NameError"),
        (throw(UnboundLocalError("later")), "UnboundLocalError"),
        (lambda: eval("object().no_such"), "AttributeError"),
        (throw(LawBroken("a lane was stopped by a bug"), cause=TypeError("2")), "TypeError"),
        (nested(TypeError("2"), AssertionError("nothing came")), "TypeError"),
        (nested(AssertionError("nothing came"), TypeError("2")), "TypeError"),
        (throw(ExceptionGroup("two", [AssertionError(), TypeError()])), "TypeError"),
        (throw(AssertionError(), cause=ExceptionGroup("one", [TypeError()])), "TypeError"),
        (unreachable, "assert_never"),
    ],
)
def test_code_that_falls_over_is_never_an_assertion(act: Callable[[], object], name: str) -> None:
    assert failure_of(raised(act)) == Failure("falls over", name)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyError("row"), Failure("another error", "KeyError")),
        (StoreBusy("later"), Failure("another error", "StoreBusy")),
        (TimeoutError(), Failure("time-out", "TimeoutError")),
        (asyncio.CancelledError(), Failure("another error", "CancelledError")),
        (
            ExceptionGroup("two", [KeyError(), AssertionError()]),
            Failure("assertion", "AssertionError"),
        ),
    ],
)
def test_any_other_error_has_its_name(error: BaseException, expected: Failure) -> None:
    assert failure_of(raised(throw(error))) == expected


def test_only_a_test_asserts_by_unpacking() -> None:
    error = raised(miscounted_by_another)
    assert failure_of(error) == Failure("another error", "ValueError")


def test_an_assertion_because_of_another_error_is_that_error() -> None:
    law = throw(LawBroken("a lane was stopped by a bug"), cause=KeyError("row"))
    assert failure_of(raised(law)) == Failure("another error", "KeyError")
    late = throw(AssertionError("the server did not start"), cause=TimeoutError())
    assert failure_of(raised(late)) == Failure("time-out", "TimeoutError")


def test_a_hidden_context_does_not_count() -> None:
    def act() -> None:
        try:
            wrong_call()
        except TypeError:
            raise AssertionError("the caller is told") from None

    assert failure_of(raised(act)).kind == "assertion"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("  red: assertion LawBroken\n", [Failure("assertion", "LawBroken")]),
        ("red: another error KeyError\n1 failed", [Failure("another error", "KeyError")]),
        ("the word red: assertion\n", []),
        (
            "Traceback (most recent call last):\n  File x, line 1, in y\nTypeError: 'int'\n",
            [Failure("falls over", "TypeError")],
        ),
        ("E   AttributeError: 'NoneType' object\n", [Failure("falls over", "AttributeError")]),
        ("E       NameError\n", [Failure("falls over", "NameError")]),
        (
            "  # contract:T was stopped by a bug: TypeError('x')\n",
            [Failure("falls over", "TypeError")],
        ),
        ("    with pytest.raises(TypeError):\n    raise TypeError('x')\n", []),
        ("+++ Timeout +++\n", [Failure("time-out", "TimeoutError")]),
    ],
)
def test_what_a_command_printed_is_read(output: str, expected: list[Failure]) -> None:
    assert failures.read(output) == expected


def test_a_stopped_lane_is_judged_by_what_stopped_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from laneway.engine.reactor import Reactor

    # Put back after the test, whatever watches it meanwhile.
    monkeypatch.setattr(Reactor, "_stop", Reactor._stop)
    stops = Stops()
    stops.watch()
    late = AssertionError("the payment never ended")
    assert run_world(3, bugs=True).broken is None
    assert stops.judge(late) == Failure("assertion", "AssertionError")

    def falls_over(lane: Any, event: Any) -> Any:
        return lane + event

    monkeypatch.setattr(machine, "decide", falls_over)
    assert "stopped by a bug" in (run_world(3).broken or "")
    assert stops.judge(late) == Failure("falls over", "TypeError")
    stops.clear()
    assert stops.judge(late) == Failure("assertion", "AssertionError")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyError("row"), Failure("another error", "KeyError")),
        (TypeError("2"), Failure("falls over", "TypeError")),
        (LawBroken("never twice: d1"), Failure("assertion", "LawBroken")),
    ],
)
def test_a_world_that_breaks_is_named_with_its_failure(
    error: Exception, expected: Failure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("laneway.sim.world.World.run", broken)
    found, _ = seeds.run_chunk("contract", "s1", 7, 1)
    assert [(seed, failure) for seed, _, failure in found] == [(7, expected)]


SUITE = """
import subprocess
import sys

import pytest

from laneway.core.errors import LanewayError, StoreBusy, StoreUnknown


def raises(error):
    raise error


def test_holds():
    pass


def test_is_left_out():
    pytest.skip("not here")


def test_asserts():
    assert 1 == 2


def test_falls_over():
    len(3)


def test_misses_a_key():
    {}["row"]


@pytest.fixture
def broken():
    return no_such_name


def test_of_a_broken_fixture(broken):
    pass


def test_expects_another_error_of_laneway():
    with pytest.raises(StoreBusy):
        raises(StoreUnknown("a commit"))


def test_expects_an_error_of_laneway_and_meets_another():
    with pytest.raises(LanewayError):
        raises(OSError())


def test_expects_no_error_of_laneway():
    raises(StoreUnknown("a commit"))


def test_of_a_process_that_falls_over():
    ran = subprocess.run([sys.executable, "-c", "None.x"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
"""


@pytest.mark.slow
def test_pytest_prints_a_line_for_each_failed_test(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "scripts.failures",
        "-p",
        "no:cacheprovider",
    ]
    ran = subprocess.run(
        [*command, "-c", "pyproject.toml", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in ran.stdout.splitlines() if line.startswith("red: ")] == [
        "red: assertion AssertionError",
        "red: falls over TypeError",
        "red: another error KeyError",
        "red: falls over NameError",
        "red: assertion StoreUnknown",
        "red: another error OSError",
        "red: another error StoreUnknown",
        "red: assertion AssertionError",
    ]
    assert Failure("falls over", "AttributeError") in failures.read(ran.stdout)
