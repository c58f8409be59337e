"""The kind `evm`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from laneway.kinds.extras import configured, needs
from laneway.kinds.kind import FolderKind
from laneway.wire.values import NewEvmTx

if TYPE_CHECKING:
    from laneway.kinds.served import Opening, Served
    from laneway.ports import Store
    from laneway.ports.nodes import NodesKnown
    from laneway.stores.redis.engine_core.adopt import Adoption


class EvmKind(FolderKind):
    name = "evm"
    new = NewEvmTx
    parts = {
        "section": "EvmConfig",
        "command_line": "EvmCommandLine",
        "events": "eoa_events",
        "metrics": "EvmMetrics",
        "routes": "ROUTES",
    }

    def open_nodes(
        self,
        configuration: Any,
        states: Mapping[str, bytes],  # noqa: ARG002
    ) -> "Sequence[tuple[str, NodesKnown]]":
        config = configuration.config
        elsewhere = [one for one in config.evm if not one.is_embedded()]
        if not elsewhere:
            return ()
        with needs("evm"):
            from laneway.kinds.evm.lanes import open_chain
        return [(f"evm {one.name}", open_chain(one, config.eoa.poll_ms)) for one in elsewhere]

    async def adopt(self, config: Any, store: "Store", lane: str, *, dry_run: bool) -> "Adoption":
        from laneway.kinds.evm.adoption import adopted

        return await adopted(config, store, lane, dry_run=dry_run)

    def open(self, opening: "Opening") -> "Served":
        from laneway.kinds.evm.served import EvmServed

        config, lanes = opening.config, None
        if config.evm:
            with configured("evm"):
                from laneway.kinds.evm.lanes import EvmLanes
            lanes = EvmLanes(config.evm, config.eoa, opening.clock)
        return EvmServed(lanes, opening.clock)
