"""What a process of ours does when it starts and when it ends: the interpreter, the loop, exits.

Nothing heavy is imported here, for every command passes through.
"""

import gc
import signal
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from laneway.console.exits import EXIT_FAILED, EXIT_NOT_FOUND, EXIT_TEMPORARY, EXIT_USAGE
from laneway.core.errors import CallerError, IntentNotFound, LaneNotFound, LanewayError
from laneway.wiring.limits import GC_ALLOCATIONS

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Event

T = TypeVar("T")

END_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Optimised(CallerError):
    code = "python_optimised"

    def __init__(self) -> None:
        super().__init__(
            "laneway does not start under 'python -O': its invariants are asserts, and -O removes "
            "them; run it without -O and without PYTHONOPTIMIZE"
        )


def check_interpreter() -> None:
    if sys.flags.optimize:
        raise Optimised


def exit_code(error: LanewayError) -> int:
    if error.retry == "later":
        return EXIT_TEMPORARY
    if isinstance(error, IntentNotFound | LaneNotFound):
        return EXIT_NOT_FOUND
    return EXIT_USAGE if isinstance(error, CallerError) else EXIT_FAILED


def calm_collector() -> None:
    """Call once, when everything long-lived exists.

    Rows and records make no cycles, so the collector's frequent passes find nothing and cost a
    tenth of the throughput (measured here). What exists now is never looked at again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_ALLOCATIONS, 20, 50)


def watch_signals(came: "Event") -> None:
    """Set the event at the first SIGTERM or SIGINT; the next one finds the kernel's own answer."""
    import asyncio

    def signalled() -> None:
        unwatch_signals()
        came.set()

    for number in END_SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, signalled)


def unwatch_signals() -> None:
    import asyncio

    for number in END_SIGNALS:
        asyncio.get_running_loop().remove_signal_handler(number)


def new_loop() -> "AbstractEventLoop":
    """uvloop's where it is installed, asyncio's own elsewhere."""
    import asyncio

    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.new_event_loop()
    return new_event_loop()


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a loop to its end."""
    import asyncio

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(main)
