"""`laneway doctor`: what is wrong with this machine or this database, and what to do."""

import click

from laneway.cli.late import find
from laneway.cli.options import configured
from laneway.cli.printing import say, say_json
from laneway.wire.urls import shown_url
from laneway.wiring.config import Configuration
from laneway.wiring.process import EXIT_FAILED


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
    findings = find("doctor", "laneway.wiring.doctor", "examine")(path, store.options())
    config = configuration.config
    server = find("doctor", "laneway.wiring.server_doctor", "examine_server")
    findings = [*findings, *server(configuration)]
    states = find("doctor", "laneway.wiring.doctor", "lane_states")(path)
    if config.evm or config.cosmos or config.rollup or config.host.kind == "rest":
        nodes = find("doctor", "laneway.wiring.node_doctor", "examine_nodes")
        findings = [*findings, *nodes(configuration, states)]
    if config.rollup and all(finding.name != "rollup" for finding in findings):
        # Without its extra there is one already, which names the extra.
        look = find("doctor", "laneway.wiring.rollup_doctor", "examine_rollups")
        findings = [*findings, *look(config.rollup, states)]
    healthy = all(finding.ok for finding in findings)
    if as_json:
        shown = [
            {"name": each.name, "ok": each.ok, "what": each.what, "advice": each.advice}
            for each in findings
        ]
        say_json({"ok": healthy, "path": shown_url(path), "findings": shown})
    else:
        for each in findings:
            say(f"{'ok  ' if each.ok else 'BAD '} {each.name}: {each.what}")
            if each.advice and not each.ok:
                say(f"     → {each.advice}")
    return 0 if healthy else EXIT_FAILED
