"""The list of commands, and how every one of them ends: an exit code and at most one clear line.

A listing must not import what it lists, so each command's purpose stands here beside its place.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from laneway.console.exits import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_NOT_FOUND,
    EXIT_TEMPORARY,
    EXIT_USAGE,
)
from laneway.console.printing import say
from laneway.core.errors import LanewayError
from laneway.kinds.extras import missing
from laneway.kinds.registry import kinds
from laneway.version import __version__
from laneway.wiring.process import check_interpreter, exit_code

COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("laneway.cli.up:up", "Serve the queue over HTTP."),
    "init": ("laneway.cli.init:init", "Write a commented laneway.toml."),
    "send": ("laneway.cli.send:send", "Queue a transaction; returns when it is durable."),
    "lanes": ("laneway.cli.lanes:lanes", "List lanes: what is queued, in flight, stuck."),
    "lane": (
        "laneway.cli.lanes:lane",
        "Show one lane and its health, or pause, resume, drain, revive, reset, set or adopt it.",
    ),
    "tx": (
        "laneway.cli.tx:tx",
        "Show, list, wait for, cancel, bump, replace, settle or retry transactions.",
    ),
    "top": ("laneway.cli.top:top", "Watch lanes live: depth, running, rate."),
    "demo": (
        "laneway.demo.command:demo",
        "Kill a worker again and again; nothing is lost or doubled.",
    ),
    "sim": ("laneway.cli.sim:sim", "Run simulated worlds, each from one seed."),
    "bench": ("laneway.cli.bench:bench", "Measure, and compare with other queues."),
    "devnet": ("laneway.cli.devnet:devnet", "A chain of your own to try things on."),
    "evm": ("laneway.cli.evm:evm", "The EVM by itself: see what its fast path makes of code."),
    "chaos": ("laneway.cli.chaos:chaos", "A proxy before a node that misbehaves by rule."),
    "apikey": ("laneway.cli.apikey:apikey", "Make an API key; only its hash is kept."),
    "key": ("laneway.cli.key:key", "Make, import and list keystores; check a signer."),
    "doctor": (
        "laneway.cli.doctor:doctor",
        "Check this machine, its SQLite, the database at PATH, a running server and all nodes.",
    ),
    "config": ("laneway.cli.config:config", "Show or check the configuration."),
}
"""Those that belong to no kind of lane."""


def commands() -> dict[str, tuple[str, str]]:
    """All of them in the order of their listing; those of the kinds follow `tx`."""
    found: dict[str, tuple[str, str]] = {}
    for name, command in COMMANDS.items():
        found[name] = command
        if name == "tx":
            for kind in kinds().values():
                found |= {one: kind.commands[one] for one in kind.commands if one not in COMMANDS}
    return found


class LateGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in commands():
            return None
        module, _, name = commands()[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, purpose) for name, (_, purpose) in commands().items()])


@click.group(cls=LateGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="laneway %(version)s")
def app() -> None:
    """Gets every transaction on chain exactly once, in order, even if you crash.

    Start with: laneway demo
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the number is the exit code."""
    try:
        check_interpreter()
        ended = app.main(args=arguments, prog_name="laneway", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except LanewayError as error:
        complain(str(error))
        return code_of(error)
    except TimeoutError as error:
        complain(str(error))
        return EXIT_TEMPORARY
    except ModuleNotFoundError as error:
        complain(str(missing(error)))
        return EXIT_FAILED
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to answer.
        sys.stdout = None
        return EXIT_FAILED
    except OSError as error:
        complain(f"{error.filename or 'the system'}: {error.strerror or error}")
        return EXIT_FAILED
    return ended if isinstance(ended, int) else 0


def code_of(error: LanewayError) -> int:
    from laneway.client.errors import Invalid, NotFound

    if isinstance(error, NotFound):
        return EXIT_NOT_FOUND
    return EXIT_USAGE if isinstance(error, Invalid) else exit_code(error)


def complain(problem: str) -> None:
    """One line, whatever the error's text was."""
    say(f"laneway: {' '.join(problem.split())}", err=True)
