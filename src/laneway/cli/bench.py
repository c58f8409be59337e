"""`laneway bench`: numbers, and the same work done by other queues."""

from pathlib import Path

import click

from laneway.cli.late import find


@click.group()
def bench() -> None:
    """Measure, and compare with other queues."""


@bench.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("--quick", is_flag=True, help="Fewer jobs: a look, not a measurement.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("bench/results"),
    show_default=True,
    help="Where the table and the plot go.",
)
def contract(as_json: bool, quick: bool, out: Path) -> int:
    """Durable no-op executions per second over 1, 100 and 10,000 contracts."""
    code: int = find("bench", "laneway.bench.contract", "main")(json=as_json, quick=quick, out=out)
    return code
