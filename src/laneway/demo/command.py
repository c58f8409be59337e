"""`laneway demo`: the promise being kept, while one watches."""

import sys

import click

from laneway.console.exits import EXIT_FAILED, EXIT_INTERRUPTED
from laneway.console.printing import say
from laneway.demo.values import DemoPlan, DemoView

DEFAULT = DemoPlan()


@click.command()
@click.option("--once", is_flag=True, help="End after the table instead of staying up.")
@click.option("--seed", type=int, default=DEFAULT.seed, show_default=True, help="Of all chances.")
@click.option("--kills", type=click.IntRange(0, 50), default=DEFAULT.kills, show_default=True)
@click.option(
    "--contracts", type=click.IntRange(1, 100), default=DEFAULT.contracts, show_default=True
)
@click.option(
    "--executions",
    type=click.IntRange(1, 1_000),
    default=DEFAULT.executions,
    show_default=True,
    help="Of each contract.",
)
@click.option(
    "--round-ms",
    type=click.IntRange(10, 5_000),
    default=DEFAULT.round_ms,
    show_default=True,
    help="How long a consensus round takes.",
)
@click.option(
    "--accounts",
    type=click.IntRange(0, 9),
    default=DEFAULT.accounts,
    show_default=True,
    help="EVM accounts that pay beside them.",
)
@click.option(
    "--payments",
    type=click.IntRange(1, 1_000),
    default=DEFAULT.payments,
    show_default=True,
    help="Of each account.",
)
@click.option("--keep", metavar="DIR", help="Work in this folder and leave everything there.")
@click.option("--json", "as_json", is_flag=True, help="The verdict as one JSON object on stdout.")
def demo(once: bool, as_json: bool, keep: str | None, **numbers: int) -> int:
    """Kill a worker again and again; nothing is lost or doubled.

    Ten contracts get thirty concurrent executions each, and three EVM accounts make a hundred
    payments each on a node whose answers are lost at times (anvil if it is found, else laneway's
    own devnet), while the process that owns the queue is killed with SIGKILL on the way. Then both
    chains are read back.
    """
    plan = DemoPlan(**numbers, folder=keep)
    view = choose_view(as_json)
    from laneway.demo.run import run_demo
    from laneway.wiring.process import run

    try:
        verdict = run(run_demo(plan, view, once=once))
    finally:
        view.close()
    if verdict is None:
        say("laneway: interrupted before the verdict; the worker is gone", err=True)
        return EXIT_INTERRUPTED
    return 0 if verdict.is_right() else EXIT_FAILED


def choose_view(as_json: bool) -> DemoView:
    if as_json:
        from laneway.demo.plain import JsonView

        return JsonView()
    if sys.stdout.isatty():
        from laneway.demo.live import LiveView

        return LiveView()
    from laneway.demo.plain import PlainView

    return PlainView()
