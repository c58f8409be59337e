"""The kind `counter`: what another distribution's entry point names."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tests.foreign.counter.request import NewAddition

from laneway.core.rows import FeedEntry
from laneway.feeds.events import NamedEvent
from laneway.kinds.findings import Finding
from laneway.kinds.kind import Kind

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from tests.foreign.counter.feeds import CounterMetrics

    from laneway.kinds.command_line import CommandLine
    from laneway.kinds.config import ConfigPart
    from laneway.kinds.served import Opening, Served
    from laneway.server.route import Route
    from laneway.sim.kinds import WorldKind


class CounterKind(Kind):
    name = "counter"
    new = NewAddition

    def configuration(self) -> "ConfigPart":
        from tests.foreign.counter.section import CounterConfig

        return CounterConfig()

    def open(self, opening: "Opening") -> "Served":
        from tests.foreign.counter.served import CounterServed

        return CounterServed(opening.config.counter, opening.clock)

    def events(self, entry: FeedEntry) -> Sequence[NamedEvent]:
        from tests.foreign.counter.feeds import counter_events

        return counter_events(entry)

    def metrics(self, registry: "CollectorRegistry", *, per_lane: bool) -> "CounterMetrics":
        from tests.foreign.counter.feeds import CounterMetrics

        return CounterMetrics(registry)

    def routes(self) -> "Sequence[Route]":
        from tests.foreign.counter.routes import ROUTES

        return ROUTES

    def command_line(self) -> "CommandLine":
        from tests.foreign.counter.command_line import CounterCommandLine

        return CounterCommandLine()

    async def examine(self, configuration: Any, states: Mapping[str, bytes]) -> Sequence[Finding]:
        from tests.foreign.counter.chain import FileCounters

        folder = configuration.config.counter.folder
        if folder is None:
            return ()
        problem = FileCounters(folder).problem()
        advice = "let this user write there, or name another `counter.folder`"
        return [Finding("counters", not problem, problem or f"{folder} can be written", advice)]

    def worlds(self) -> "Sequence[WorldKind]":
        from tests.foreign.counter.world import WORLD

        return (WORLD,)
