"""`laneway up`: the queue as a service."""

import click

from laneway.cli.options import configured
from laneway.wiring.config import Configuration


@click.command()
@click.option(
    "--listen", metavar="HOST:PORT", help="Default: 127.0.0.1:8547. Elsewhere it needs API keys."
)
@configured
def up(configuration: Configuration) -> int:
    """Serve the queue over HTTP.

    The state is in one file, ./laneway.db unless told otherwise. SIGTERM stops accepting, finishes
    commits and starts no send; a second one ends at once. Nothing is lost either way.
    """
    from laneway.wiring.logs import set_up_logs
    from laneway.wiring.process import run
    from laneway.wiring.server import serve

    set_up_logs(configuration.config.log)
    return run(serve(configuration, click.echo))
