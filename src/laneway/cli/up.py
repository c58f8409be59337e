"""`laneway up`: the queue as a service."""

import click

from laneway.cli.options import configured
from laneway.cli.printing import say
from laneway.devnets.jam.limits import SLOT_MS_MAX
from laneway.wiring.config import Configuration
from laneway.wiring.extras import needs
from laneway.wiring.limits import SLOT_MS_MIN


@click.command()
@click.option(
    "--listen", metavar="HOST:PORT", help="Default: 127.0.0.1:8547. Elsewhere it needs API keys."
)
@click.option(
    "--rollup",
    type=click.Choice(["ledger"]),
    help="A rollup on a JAM chain inside this process, to try it out.",
)
@click.option(
    "--slot-ms",
    type=click.IntRange(SLOT_MS_MIN, SLOT_MS_MAX),
    help="With --rollup: a timeslot of that chain, if not six seconds.",
)
@configured
def up(configuration: Configuration, rollup: str | None, slot_ms: int | None) -> int:
    """Serve the queue over HTTP.

    The state is in one file, ./laneway.db unless told otherwise. SIGTERM stops accepting, finishes
    commits and starts no send; a second one ends at once. Nothing is lost either way.

    With --rollup ledger it brings a chain of its own along, and tells whose money is there.
    """
    from laneway.wiring.logs import set_up_logs
    from laneway.wiring.process import run
    from laneway.wiring.server import serve

    if rollup is not None:
        with needs("rollup"):
            from laneway.wiring.rollup_devnet import with_devnet

        configuration = with_devnet(configuration, slot_ms)
    elif slot_ms is not None:
        raise click.UsageError("--slot-ms is for the chain of --rollup")
    set_up_logs(configuration.config.log)
    return run(serve(configuration, say))
