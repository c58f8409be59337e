"""Who tells of accounts' lanes in this process, kind by kind."""

from typing import TYPE_CHECKING, Any

from laneway.core.ids import LaneId, lane_kind
from laneway.engine.shell import Engine
from laneway.wiring.account_shown import AccountTeller
from laneway.wiring.cosmos_shown import CosmosTeller
from laneway.wiring.evm_shown import EvmTeller
from laneway.wiring.rollup_shown import RollupTeller

if TYPE_CHECKING:
    # The curve is an extra (`evm`, `cosmos`, `rollup`); contracts need none of it.
    from laneway.wiring.cosmos import CosmosLanes
    from laneway.wiring.evm import EvmLanes
    from laneway.wiring.rollup import RollupLanes


class Tellers:
    """Those of the accounts that this process was given; without any, they know none."""

    def __init__(
        self,
        engine: Engine,
        evm: "EvmLanes | None",
        cosmos: "CosmosLanes | None",
        rollup: "RollupLanes | None" = None,
    ) -> None:
        bytes_max = 0 if cosmos is None else cosmos.section.account_bytes_max
        self.evm = EvmTeller(engine, evm)
        self.cosmos = CosmosTeller(engine, cosmos, bytes_max)
        self.rollup = RollupTeller(engine, rollup)
        self.by_kind: dict[str, AccountTeller[Any, Any]] = {
            "evm": self.evm,
            "cosmos": self.cosmos,
            "rollup": self.rollup,
        }

    def of(self, lane: str) -> AccountTeller[Any, Any] | None:
        """None: it is no account's lane."""
        return self.by_kind.get(lane_kind(LaneId(lane)))
