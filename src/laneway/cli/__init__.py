"""The command line: parse, call, print. Every command is imported only when it is called."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


def main() -> None:
    import sys

    from laneway.cli.app import run

    sys.excepthook = print_bug
    raise SystemExit(run())


def print_bug(
    kind: type[BaseException], error: BaseException, trace: "TracebackType | None"
) -> None:
    """What Python prints when a bug ends a command, without the secrets of addresses."""
    from traceback import format_exception

    from laneway.console.printing import say
    from laneway.core.urls import shown_urls

    for line in shown_urls("".join(format_exception(kind, error, trace))).splitlines():
        say(line, err=True)
