"""Why a check went red: a law or an assertion failed, or the code fell over.

`failure_of` judges an exception together with its causes. `scripts/seeds.py` prints the judgement
of every broken world, and pytest prints that of every failed test when it loads this module as a
plugin (`-p scripts.failures`). `scripts/mutants.py` reads those lines; it knows no other evidence
that a mutation was caught.
"""

import re
import sys
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import pytest

Kind = Literal["assertion", "falls over", "time-out", "another error"]

ASSERTIONS = frozenset(("AssertionError", "Failed", "Bug"))
"""A law of the simulator is an AssertionError, `Failed` is what pytest.fail and pytest.raises
raise, and a Bug is an invariant that a store found broken."""

FALLS_OVER = frozenset(("TypeError", "NameError", "AttributeError", "ImportError", "SyntaxError"))
"""Code that a type checker or the import refuses: nobody would ever run it."""

DOMAIN = frozenset(("LanewayError",))
"""The errors that callers of laneway are meant to meet."""

MARK = "red: "
LINE = re.compile(rf"^ *{MARK}(assertion|falls over|time-out|another error) (\w+)", re.MULTILINE)

_names = "|".join(
    sorted((*FALLS_OVER, "UnboundLocalError", "ModuleNotFoundError", "IndentationError"))
)
PRINTED = re.compile(
    rf"^(?:E +)?\s*(?:\w+\.)*({_names})(?::|$)|stopped by a bug: ({_names})\(", re.MULTILINE
)
"""The last line of a traceback, of this process or of another, or a lane's reason."""


class Failure(NamedTuple):
    kind: Kind
    name: str
    """The exception's class."""

    def line(self) -> str:
        return f"{MARK}{self.kind} {self.name}"


def failure_of(error: BaseException) -> Failure:
    """The judgement of an exception. One that falls over counts wherever it stands in the chain; an
    assertion that was raised because of another exception is judged by that one."""
    for one in chain(error):
        if is_one_of(one, FALLS_OVER):
            return Failure("falls over", type(one).__name__)
        if is_unreachable(one):
            return Failure("falls over", "assert_never")
    found = [judged(leaf) for leaf in leaves(error)]
    return next((one for one in found if one.kind == "assertion"), found[0])


def judged(error: BaseException) -> Failure:
    while isinstance(error, AssertionError) and error.__cause__ is not None:
        error = next(leaves(error.__cause__))
    name = type(error).__name__
    if is_one_of(error, ASSERTIONS) or is_miscount(error) or is_not_the_expected(error):
        return Failure("assertion", name)
    return Failure("time-out" if isinstance(error, TimeoutError) else "another error", name)


def is_one_of(error: BaseException, names: frozenset[str]) -> bool:
    """By name, so that an exception of a mutated copy of the sources is known too."""
    return any(ancestor.__name__ in names for ancestor in type(error).__mro__)


def is_miscount(error: BaseException) -> bool:
    """Whether a test unpacked another number of values than it says there are: `(slot,) = slots`.
    That line asserts a count as `assert len(slots) == 1` would."""
    frames = traceback.extract_tb(error.__traceback__)
    is_unpacking = isinstance(error, ValueError) and "values to unpack" in str(error)
    return is_unpacking and bool(frames) and "/tests/" in frames[-1].filename


def is_not_the_expected(error: BaseException) -> bool:
    """Whether `pytest.raises` was left by another of laneway's own errors than it names."""
    return is_one_of(error, DOMAIN) and any(error is one for one in _unexpected)


def is_unreachable(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].name == "assert_never"


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The exception itself, or those of its group."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from leaves(one)
    else:
        yield error


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception with everything that it was raised from, or during."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from chain(one)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def read(output: str) -> list[Failure]:
    """The failures that a command printed. A traceback of a subprocess or the reason of a stopped
    lane counts as falling over, whatever the test said about it."""
    found: list[Any] = [Failure(kind, name) for kind, name in LINE.findall(output)]
    found += [Failure("falls over", first or second) for first, second in PRINTED.findall(output)]
    if "+++ Timeout +++" in output:  # pytest-timeout ends the process.
        found.append(Failure("time-out", "TimeoutError"))
    return list(dict.fromkeys(found))


# Lanes that a bug stopped. A test or a world may go red much later, and only because of that.


class Stops:
    """The errors that stopped lanes, apart from those that a test or a world planned."""

    def __init__(self) -> None:
        self._errors: list[BaseException] = []

    def watch(self) -> None:
        """Notice every lane that a reactor of this process stops from now on."""
        module: Any = sys.modules.get("laneway.engine.reactor")
        if module is None:
            return
        stop = module.Reactor._stop

        def noticed(reactor: Any, run: Any, error: Exception, doing: Any) -> None:
            if not is_planned(error):
                self._errors.append(error)
            stop(reactor, run, error, doing)

        module.Reactor._stop = noticed

    def clear(self) -> None:
        self._errors.clear()

    def judge(self, error: BaseException) -> Failure:
        """The judgement of what was raised after these stops."""
        found = [failure_of(one) for one in (error, *self._errors)]
        worst = [one for one in found if one.kind == "falls over"]
        if worst or found[0].kind != "assertion":
            return (*worst, found[0])[0]
        return next((one for one in found if one.kind != "assertion"), found[0])


def is_planned(error: BaseException) -> bool:
    """Whether a test or the simulator raised it on purpose."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return True  # It was handed over, and never raised.
    place, line = frames[-1].filename, frames[-1].line or ""
    return line.startswith("raise ") and ("/laneway/" not in place or "/laneway/sim/" in place)


# The plugin.

_stops = Stops()
_failures: list[Failure] = []
_unexpected: list[BaseException] = []
"""What left a `pytest.raises` that names another class."""


def pytest_configure() -> None:
    import pytest

    leave: Any = pytest.RaisesExc.__exit__

    def noticed(block: Any, kind: Any, error: BaseException | None, trace: Any) -> bool:
        is_expected: bool = leave(block, kind, error, trace)
        if error is not None and not is_expected:
            _unexpected.append(error)
        return is_expected

    raises: Any = pytest.RaisesExc
    raises.__exit__ = noticed


def pytest_collection_finish() -> None:
    _stops.watch()


def pytest_runtest_logstart() -> None:
    _stops.clear()
    _unexpected.clear()


def pytest_runtest_makereport(call: "pytest.CallInfo[None]") -> None:
    if call.excinfo is not None and not is_one_of(call.excinfo.value, frozenset(("Skipped",))):
        _failures.append(_stops.judge(call.excinfo.value))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for failure in _failures:
        terminalreporter.write_line(failure.line())
