"""What the outside needs of a kind of lane, in one object.

A kind is a folder here, or a class of another distribution that is named in its entry-point group
`laneway.kinds`. Importing a kind is cheap: what needs an extra is imported when it is asked for.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from laneway.core.errors import BadRequest
from laneway.core.rows import FeedEntry
from laneway.feeds.events import NamedEvent

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from laneway.engine.listeners import Listener
    from laneway.kinds.command_line import CommandLine
    from laneway.kinds.config import ConfigPart
    from laneway.kinds.findings import Finding
    from laneway.kinds.served import Opening, Served
    from laneway.ports import Store
    from laneway.ports.nodes import NodesKnown
    from laneway.server.route import Route
    from laneway.sim.kinds import WorldKind


class Kind:
    """One kind of lane. What is not overridden is the answer of a kind that has none of it."""

    name: ClassVar[str]
    """The first word of its lanes' ids."""
    is_listed: ClassVar[bool] = True
    """Whether its intents are transactions that people list and ask for. Webhooks and the audit
    trail have views of their own."""

    new: ClassVar[type[Struct] | None] = None
    """The body of a request over REST, with its `lane` and its `payload`; None if it takes none."""
    is_large: ClassVar[bool] = False
    """Whether a request may have megabytes."""

    def configuration(self) -> "ConfigPart":
        """Its part of the configuration."""
        from laneway.kinds.config import ConfigPart

        return ConfigPart()

    # What runs.

    def open(self, opening: "Opening") -> "Served":
        """Its lanes in this process; nothing is connected yet."""
        raise NotImplementedError

    # What is read and measured.

    def events(self, entry: FeedEntry) -> Sequence[NamedEvent]:
        """The events of one commit."""
        return ()

    def metrics(
        self,
        registry: "CollectorRegistry",
        *,
        per_lane: bool,
    ) -> "Listener | None":
        """What counts in its series; `per_lane` labels each with its lane."""
        return None

    # What people ask for.

    def routes(self) -> "Sequence[Route]":
        """Its own routes of the REST API, beside those of all transactions and lanes."""
        return ()

    commands: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Its own commands by name: where each is, `module:name`, and its purpose. A listing imports
    none of them."""

    def command_line(self) -> "CommandLine":
        """What it adds to the commands that all kinds share."""
        from laneway.kinds.command_line import CommandLine

        return CommandLine()

    async def adopt(self, config: Any, store: "Store", lane: str, *, dry_run: bool) -> Any:
        """Take over a lane that another program ran in this store."""
        raise BadRequest("lane", f"no other program runs lanes like {lane}")

    # What `laneway doctor` asks.

    nodes_name: ClassVar[str] = ""
    """What the doctor calls its nodes where they cannot be opened; empty: the kind's name."""
    needs_states: ClassVar[bool] = False
    """Whether the doctor's questions need the heads of its lanes."""

    def open_nodes(
        self,
        configuration: Any,
        states: Mapping[str, bytes],
    ) -> "Sequence[tuple[str, NodesKnown]]":
        """The configured chains, each by a name, whose nodes the doctor asks and then closes; no
        connection is made yet. `states` are the heads of lanes in the database, by lane."""
        return ()

    async def examine(
        self,
        configuration: Any,
        states: Mapping[str, bytes],
    ) -> "Sequence[Finding]":
        """What the doctor finds of its chains beyond their nodes."""
        return ()

    # What `laneway sim` runs.

    def worlds(self) -> "Sequence[WorldKind]":
        """Its worlds for the simulator, which knows those of laneway's own kinds by itself."""
        return ()


class FolderKind(Kind):
    """A kind whose parts are modules beside its own, each imported when it is asked for."""

    parts: ClassVar[Mapping[str, str]]
    """What to import for each part that it has: the name, by its module."""

    def _part(self, module: str, otherwise: Any) -> Any:
        if module not in self.parts:
            return otherwise
        folder = type(self).__module__.rpartition(".")[0]
        return getattr(import_module(f"{folder}.{module}"), self.parts[module])

    def configuration(self) -> "ConfigPart":
        found: ConfigPart = self._part("section", super().configuration)()
        return found

    def events(self, entry: FeedEntry) -> Sequence[NamedEvent]:
        found: Sequence[NamedEvent] = self._part("events", super().events)(entry)
        return found

    def metrics(self, registry: "CollectorRegistry", *, per_lane: bool) -> "Listener | None":
        make = self._part("metrics", super().metrics)
        found: Listener | None = make(registry, per_lane=per_lane)
        return found

    def routes(self) -> "Sequence[Route]":
        found: Sequence[Route] = self._part("routes", ())
        return found

    def command_line(self) -> "CommandLine":
        found: CommandLine = self._part("command_line", super().command_line)()
        return found
