"""`laneway chaos`: faults to try an installation on, before the world tries it."""

from pathlib import Path

import click


@click.group()
def chaos() -> None:
    """A proxy before a node that misbehaves by rule."""


@chaos.command()
@click.option("--upstream", required=True, metavar="URL", help="The node behind the proxy.")
@click.option(
    "--listen",
    default="127.0.0.1:8546",
    show_default=True,
    metavar="HOST:PORT",
    help="Where the proxy is; port 0 takes a free one.",
)
@click.option(
    "--rule",
    "texts",
    multiple=True,
    metavar="RULE",
    help="FAULT name=value …; may be given again. The first rule that strikes a call decides.",
)
@click.option(
    "--rules",
    "path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A JSON list of rules, after those of --rule.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the dice.")
@click.option("--json", "as_json", is_flag=True, help="Print where it is and what struck as JSON.")
def proxy(
    upstream: str, listen: str, texts: tuple[str, ...], path: Path | None, seed: int, as_json: bool
) -> int:
    """Pass JSON-RPC on to a node, and misbehave by rule.

    \b
    Faults: lose_answer, lose_request, hang, hang_answer, delay (ms=),
            duplicate, status (status= retry_after_s=),
            error (code= message= forward=), lie (result= forward=),
            lag (blocks= or at=)
    Which:  method= (a pattern), probability=, nth=, count=

    Example: --rule 'lose_answer method=eth_sendRawTransaction probability=0.1'
    """
    from laneway.devnets.chaos.run import run_proxy

    return run_proxy(
        upstream=upstream, listen=listen, rules=texts, path=path, seed=seed, as_json=as_json
    )
