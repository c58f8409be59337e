"""The kind `cosmos`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from laneway.kinds.extras import configured, needs
from laneway.kinds.kind import FolderKind
from laneway.wire.values import NewCosmosTx

if TYPE_CHECKING:
    from laneway.kinds.served import Opening, Served
    from laneway.ports.nodes import NodesKnown


class CosmosKind(FolderKind):
    name = "cosmos"
    new = NewCosmosTx
    is_large = True
    parts = {
        "section": "CosmosConfig",
        "command_line": "CosmosCommandLine",
        "events": "sequence_events",
        "metrics": "SequenceMetrics",
        "routes": "ROUTES",
    }

    def open_nodes(
        self,
        configuration: Any,
        states: Mapping[str, bytes],  # noqa: ARG002
    ) -> "Sequence[tuple[str, NodesKnown]]":
        config = configuration.config
        if not config.cosmos:
            return ()
        with needs("cosmos"):
            from laneway.kinds.cosmos.lanes import open_chain
        return [(f"cosmos {one.name}", open_chain(one)) for one in config.cosmos]

    def open(self, opening: "Opening") -> "Served":
        from laneway.kinds.cosmos.served import CosmosServed

        config, lanes = opening.config, None
        if config.cosmos:
            with configured("cosmos"):
                from laneway.kinds.cosmos.lanes import CosmosLanes
            lanes = CosmosLanes(config.cosmos, config.sequence, opening.clock)
        return CosmosServed(lanes, opening.clock)
