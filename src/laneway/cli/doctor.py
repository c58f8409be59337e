"""`laneway doctor`: what is wrong with this machine or this database, and what to do."""

import click

from laneway.cli.options import configured
from laneway.console.exits import EXIT_FAILED
from laneway.console.late import find
from laneway.console.printing import say, say_json
from laneway.core.urls import shown_url
from laneway.wiring.config import Configuration


@click.command()
@click.argument("path", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@configured
def doctor(configuration: Configuration, path: str | None, as_json: bool) -> int:
    """Check this machine, its SQLite, the database at PATH, a running server and all nodes.

    PATH is a file or the address of a PostgreSQL or Redis; without it, it is the configured one.
    Exits 1 if anything needs a person.
    """
    store = configuration.config.store
    path = path or store.path
    examine = find("doctor", "laneway.wiring.doctor", "examine")
    states = find("doctor", "laneway.wiring.doctor", "lane_states")
    server = find("doctor", "laneway.wiring.server_doctor", "examine_server")
    nodes = find("doctor", "laneway.wiring.node_doctor", "examine_nodes")
    findings = [
        *examine(path, store.options()),
        *server(configuration),
        *nodes(configuration, states(path)),
    ]
    healthy = all(finding.ok for finding in findings)
    if as_json:
        names = ("name", "ok", "what", "advice")
        listed = [{name: getattr(each, name) for name in names} for each in findings]
        say_json({"ok": healthy, "path": shown_url(path), "findings": listed})
    else:
        for each in findings:
            say(f"{'ok  ' if each.ok else 'BAD '} {each.name}: {each.what}")
            if each.advice and not each.ok:
                say(f"     → {each.advice}")
    return 0 if healthy else EXIT_FAILED
