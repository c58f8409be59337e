"""The kind `rollup`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from laneway.kinds.extras import configured, needs
from laneway.kinds.kind import FolderKind
from laneway.wire.rollup import NewLaneTx

if TYPE_CHECKING:
    from laneway.kinds.findings import Finding
    from laneway.kinds.served import Opening, Served
    from laneway.ports.nodes import NodesKnown


class RollupKind(FolderKind):
    name = "rollup"
    new = NewLaneTx
    needs_states = True
    commands = {
        "rollup": (
            "laneway.kinds.rollup.commands:rollup",
            "Show a rollup and its blocks, a receipt or an account, or send a transaction.",
        ),
    }
    parts = {
        "section": "RollupConfig",
        "command_line": "RollupCommandLine",
        "events": "bundle_events",
        "metrics": "BundleMetrics",
        "routes": "ROUTES",
    }

    def open_nodes(
        self,
        configuration: Any,
        states: Mapping[str, bytes],  # noqa: ARG002
    ) -> "Sequence[tuple[str, NodesKnown]]":
        if not configuration.config.rollup:
            return ()
        with needs("rollup"):
            from laneway.kinds.rollup.doctor import open_tables
        return list(open_tables(configuration.config.rollup))

    async def examine(self, configuration: Any, states: Mapping[str, bytes]) -> "Sequence[Finding]":
        config = configuration.config
        if not config.rollup:
            return ()
        from laneway.kinds.rollup.doctor import look_at_all

        return await look_at_all(config.rollup, config.bundle, states, config.store.path)

    def open(self, opening: "Opening") -> "Served":
        from laneway.kinds.rollup.served import RollupServed

        config, lanes = opening.config, None
        if config.rollup:
            with configured("rollup"):
                from laneway.kinds.rollup.lanes import RollupLanes
            lanes = RollupLanes(
                config.rollup, config.bundle, opening.clock, store_path=config.store.path
            )
        return RollupServed(lanes, opening.clock)
