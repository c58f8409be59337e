"""`laneway up`: the queue as a service."""

from typing import Any

import click

from laneway.cli.options import configured
from laneway.cli.shared import SharedCommand
from laneway.console.printing import say
from laneway.kinds.command_line import command_lines
from laneway.wiring.config import Configuration


@click.command(cls=SharedCommand, after="listen")
@click.option(
    "--listen", metavar="HOST:PORT", help="Default: 127.0.0.1:8547. Elsewhere it needs API keys."
)
@configured
def up(configuration: Configuration, **options: Any) -> int:
    """Serve the queue over HTTP.

    The state is in one file, ./laneway.db unless another is named. SIGTERM stops accepting,
    finishes commits and starts no send; a second one ends at once. Nothing is lost either way.

    With --rollup it brings a chain of its own along, and says which accounts have money there.
    """
    from laneway.wiring.logs import set_up_logs
    from laneway.wiring.process import run
    from laneway.wiring.server import serve

    for line in command_lines():
        configuration = line.prepare(configuration, options)
    set_up_logs(configuration.config.log)
    return run(serve(configuration, say))
