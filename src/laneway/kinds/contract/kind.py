"""The kind `contract`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from laneway.kinds.kind import FolderKind
from laneway.wire.values import NewTx

if TYPE_CHECKING:
    from laneway.kinds.served import Opening, Served
    from laneway.ports.nodes import NodesKnown


class ContractKind(FolderKind):
    name = "contract"
    new = NewTx
    nodes_name = "contract node"
    needs_states = True
    parts = {
        "section": "ContractConfig",
        "command_line": "ContractCommandLine",
        "events": "contract_events",
        "metrics": "ContractMetrics",
        "routes": "ROUTES",
    }

    def open_nodes(
        self, configuration: Any, states: Mapping[str, bytes]
    ) -> "Sequence[tuple[str, NodesKnown]]":
        from laneway.kinds.contract.host import open_node

        host = open_node(configuration, states)
        return () if host is None else [(self.nodes_name, host)]

    def open(self, opening: "Opening") -> "Served":
        from laneway.kinds.contract.host import open_host
        from laneway.kinds.contract.served import ContractServed

        config = opening.config
        _, source = opening.origins.get("host.callable", ("default", "host.callable"))
        host = open_host(config.host, config.store.path, source)
        return ContractServed(
            host,
            config.contract.settings(),
            opening.clock,
            section=config.host,
            is_chosen="host.kind" in opening.origins,
        )
