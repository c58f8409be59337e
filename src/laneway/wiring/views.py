"""Where transactions and lanes are and why: the same answers for REST and for the library."""

from collections.abc import Callable
from typing import Any

from laneway.core.errors import BadRequest, IntentNotFound, LaneNotFound
from laneway.core.ids import IntentId, LaneId, is_contract, is_intent_id, is_shown, lane_id
from laneway.core.rows import LaneView
from laneway.ports import Clock, IntentView, Store
from laneway.wire.values import Lane, LaneHealth, Tx
from laneway.wiring.account_desk import AccountDesk
from laneway.wiring.finding import find, is_name
from laneway.wiring.nodes import Nodes, health_at
from laneway.wiring.shown import Shower, shown_lanes
from laneway.wiring.tellers import Tellers
from laneway.wiring.told import Teller

STUCK = ("halted", "tripped", "backing off", "recovering", "paused")
"""States of a contract's lane that a person should look at."""


class Views:
    """Reads the store for lanes of every kind, contracts and accounts alike."""

    def __init__(
        self, store: Store, shower: Shower, tellers: Tellers, clock: Clock, nodes: Nodes
    ) -> None:
        self._store = store
        self._nodes = nodes
        self._shower = shower
        self._tellers = tellers
        self._clock = clock
        self._accounts: dict[str, AccountDesk[Any]] = {
            kind: AccountDesk(store, teller) for kind, teller in tellers.by_kind.items()
        }

    def teller(self) -> Teller:
        """One for each request, for it reads every lane once."""
        return Teller(self._store, self._shower, self._clock, self._tellers.by_kind, self._nodes)

    def _account(self, lane: str) -> AccountDesk[Any] | None:
        """None if it is a contract's lane."""
        return None if is_contract(lane) else self._accounts.get(lane.partition(":")[0])

    async def show(self, intent: str) -> Tx:
        """A transaction by its id, by its hash on chain, or by `LANE#NUMBER`."""
        intent = await self.named(intent)
        view = await self.intent(intent)
        return await (self.teller().pruned(intent) if view is None else self.teller().tx(view))

    async def named(self, text: str) -> str:
        """The id of a transaction that its hash or `LANE#NUMBER` may name; an id comes back."""
        if is_name(str(text)):
            return await find(self._store, text, self._account)
        return text

    async def intent(self, intent: str) -> IntentView | None:
        """The rows of a transaction, or None if retention removed them."""
        if not is_intent_id(intent):
            raise IntentNotFound(intent)
        view = await self._store.intent(IntentId(intent))
        if view is not None and not is_shown(view.intent.lane):
            raise IntentNotFound(intent)
        return view

    async def lanes(
        self, after: str | None, limit: int, may_see: Callable[[str], bool] = lambda _: True
    ) -> list[Lane]:
        """A page of lanes of every kind, by name, of those that the caller may see."""
        start = None if after is None else LaneId(after)
        views = await shown_lanes(self._store, start, limit, may_see)
        teller = self.teller()
        return [await teller.lane(view) for view in views]

    async def lane(self, lane: str) -> Lane:
        return await self.teller().lane(await self.lane_view(lane))

    async def health(self, lane: str) -> LaneHealth:
        """Whether a lane goes on by itself, and what a person should look at."""
        view = await self.lane_view(lane)
        account = self._account(lane)
        if account is not None:
            return health_at(account.teller.health(view), self._nodes.of(view.tail.lane))
        shown = await self.teller().lane(view)
        problems = [f"{shown.state}: {shown.reason}"] if shown.state in STUCK else []
        health = LaneHealth(lane=lane, healthy=not problems, problems=problems)
        return health if problems else health_at(health, self._nodes.of(view.tail.lane))

    async def lane_view(self, lane: str) -> LaneView:
        """The rows of a lane: `contract:TOKEN`, or an account or a rollup that is configured."""
        account = self._account(lane)
        if account is not None:
            return await account.view(lane)
        kind, _, key = lane.partition(":")
        try:
            known = is_contract(lane) and lane_id(kind, key) == lane
        except BadRequest:
            known = False
        view = await self._store.lane(LaneId(lane)) if known else None
        if view is None:
            raise LaneNotFound(lane)
        return view
