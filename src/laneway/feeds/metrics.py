"""The numbers of one process that a collector scrapes; each kind of lane adds its own.

Counters begin with the process, as Prometheus expects; depths are read from the store when they
are asked for, so that they are right for all processes.
"""

from functools import partial

from prometheus_client import CollectorRegistry, Gauge, disable_created_metrics, generate_latest

from laneway.version import __version__

WAIT_BUCKETS_S = (0.01, 0.1, 1, 10, 60, 300, 600, 1_800, 3_600, 14_400, 86_400)
"""A queue of ten-minute rounds may be hours long."""

# They would be a second series for each one, which only says when we started.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Meter:
    """The registry, and what is counted of the process itself."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        gauge = partial(Gauge, registry=self.registry)
        self.tasks = gauge("laneway_asyncio_tasks", "Tasks of the event loop.")
        self.connections = gauge("laneway_http_connections", "Connections that are open here.")
        given_up = "What was given up, of all lanes; counted up to a thousand."
        self.dead = gauge("laneway_dead_letters", given_up)
        stopped = "Lanes that a bug stopped in this process, and that nobody has revived."
        self.stopped = gauge("laneway_lanes_stopped", stopped)
        built = gauge("laneway_build_info", "1.", ("version",))
        built.labels(__version__).set(1)

    def scrape(self, tasks: int, dead: int = 0, stopped: int = 0) -> bytes:
        """All series in the text form."""
        self.dead.set(dead)
        self.stopped.set(stopped)
        self.tasks.set(tasks)
        return generate_latest(self.registry)
