"""One account on one Cosmos chain, and what is needed to act for it."""

import math

from laneway.core.ids import LaneId, lane_id
from laneway.cosmos.blobs import MICRO
from laneway.cosmos.keys import address, raw_address
from laneway.engine.limits import FEES_KEPT_MS
from laneway.ports import Clock, CosmosChain, CosmosSigner, PromptCosmosSigner

KIND = "cosmos"


def account_lane(chain_id: str, name: str) -> LaneId:
    return lane_id(KIND, f"{chain_id}:{name}")


class CosmosView:
    """A chain, and what its gas costs, as its accounts saw it last."""

    def __init__(
        self,
        chain: CosmosChain,
        clock: Clock,
        *,
        chain_id: str,
        prefix: str,
        denom: str,
        price_micro: int | None = None,
        price_micro_min: int = 0,
        price_micro_max: int | None = None,
    ) -> None:
        self.chain = chain
        self.chain_id = chain_id
        self.prefix = prefix
        self.denom = denom
        self._clock = clock
        self._fixed = price_micro
        self._least = price_micro_min
        self.price_micro_max = price_micro_max
        """What the chain's own estimate may ask for; None if nothing bounds it."""
        self._price: int | None = price_micro
        self._read_ms = 0

    def price_known(self, kept_ms: int = FEES_KEPT_MS) -> int | None:
        """What a unit of gas costs, if it need not be asked for."""
        if self._fixed is not None:
            return self._fixed
        is_old = self._clock.monotonic_ms() - self._read_ms >= kept_ms
        return None if is_old else self._price

    async def price_now(self, kept_ms: int = FEES_KEPT_MS) -> int:
        known = self.price_known(kept_ms)
        if known is not None:
            return known
        price = await self.chain.gas_price()
        asked = 0 if price is None else math.ceil(price * MICRO)
        self._price = max(asked, self._least)
        self._read_ms = self._clock.monotonic_ms()
        return self._price


class CosmosAccount:
    def __init__(
        self,
        view: CosmosView,
        signer: CosmosSigner,
        *,
        timeout_blocks: int,
        gas_percent: int = 110,
        gas_default: int = 200_000,
        fee_max: int | None = None,
        granter: str = "",
    ) -> None:
        self.view = view
        self.signer = signer
        self.sign_now = signer.sign_now if isinstance(signer, PromptCosmosSigner) else None
        self.public_key = signer.public_key
        self.raw_address = raw_address(signer.public_key)
        self.address = address(view.prefix, signer.public_key)
        self.lane = account_lane(view.chain_id, self.address)
        self.timeout_blocks = timeout_blocks
        self.gas_percent = gas_percent
        """What is asked for of a simulation: the state may change until it is executed."""
        self.gas_default = gas_default
        """Where a node cannot simulate: what is not yet due there it does not know."""
        self.fee_max = fee_max
        """Of one transaction; above it none is made, and its intent waits."""
        self.granter = granter
        """Who pays its fees."""
