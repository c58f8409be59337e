"""How the nodes of this process's chains stand, beside everything that is shown of their lanes.

A lane that has work asks its nodes all the time, so a node that fails is known within two polls. A
lane that rests asks nothing: its nodes are asked when readiness is, and by `laneway up` at its
start and every half minute.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.errors import LaneNotFound, StoreError
from laneway.core.ids import LaneId, is_account, is_contract, is_cosmos, is_rollup, lane_key
from laneway.lanes.contract.show import read_head
from laneway.ports import ContractHost, Store
from laneway.ports.nodes import NodesKnown, NodeStanding, Witnessed
from laneway.wire.times import to_time
from laneway.wire.values import Check, Lane, LaneHealth, Tx
from laneway.wiring.limits import (
    LISTING_SCAN_PAGE,
    PROBE_EVERY_MS,
    PROBE_S_MAX,
    WITNESS_PAGES_MAX,
)
from laneway.wiring.shown import contract_lanes

if TYPE_CHECKING:
    # The curve is an extra (`evm`, `cosmos`, `rollup`); contracts need none of it.
    from laneway.wiring.cosmos import CosmosLanes
    from laneway.wiring.evm import EvmLanes
    from laneway.wiring.rollup import RollupLanes

GOES_ON = ("idle", "ready", "running")
"""States of a lane that say nothing of what holds it up."""


NEXT = "about_to_go_on"
"""The reason of a transaction that nothing holds up: its lane takes it with its next turn."""


class Outlook(Struct, frozen=True):
    """The nodes of one chain, as far as they fail."""

    count: int = 0
    """How many nodes the chain has."""
    bad: tuple[NodeStanding, ...] = ()

    def is_blocked(self) -> bool:
        """Whether no node is left that answers."""
        return 0 < self.count == len(self.bad)

    def words(self) -> str:
        listed = "; ".join(one.words() for one in self.bad)
        if self.is_blocked() or not self.bad:
            return listed
        return f"{len(self.bad)} of {self.count} nodes fail, the others are used: {listed}"

    def check(self, name: str, well: str) -> Check:
        """Ready as long as one node answers; `well` is said if each does."""
        return Check(name, not self.is_blocked(), self.words() or well)


def outlook_of(chain: object) -> Outlook:
    if not isinstance(chain, NodesKnown):
        return Outlook()
    found = chain.standings()
    return Outlook(len(found), tuple(one for one in found if one.trouble))


class Nodes:
    """The chains of one process, by the names of their checks."""

    def __init__(
        self,
        store: Store,
        host: ContractHost,
        evm: "EvmLanes | None",
        cosmos: "CosmosLanes | None",
        rollup: "RollupLanes | None",
    ) -> None:
        self._store = store
        self._host = host
        self._evm = evm
        self._cosmos = cosmos
        self._rollup = rollup

    def chains(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for lanes in (self._evm, self._cosmos):
            if lanes is not None:
                named = lanes.chains.items()
                found |= {f"{lanes.kind_name} {name}": chain for name, chain in named}
        if self._rollup is not None:
            shown = [self._rollup.rollup(lane) for lane in self._rollup.lanes()]
            found |= {one.lane: one.chain for one in shown}
        return found

    def of(self, lane: LaneId) -> Outlook:
        """Of the chain that a lane works on; of one that is not configured nothing is known."""
        try:
            return outlook_of(self._chain(lane))
        except LaneNotFound:
            return Outlook()

    def host(self) -> Outlook:
        """Of the node that executes contracts."""
        return outlook_of(self._host)

    def bad(self) -> list[NodeStanding]:
        """All that fail."""
        looks = [self.host(), *(outlook_of(chain) for chain in self.chains().values())]
        return [one for look in looks for one in look.bad]

    def checks(self, known: Sequence[Check]) -> list[Check]:
        """Whether each chain has a node that answers, beside what is `known` of some."""
        found = {check.name: check for check in known}
        for name, chain in self.chains().items():
            look, check = outlook_of(chain), found.get(name)
            if check is None:
                found[name] = look.check(name, f"{look.count} of {look.count} nodes answer")
            elif look.bad:
                ok = check.ok and not look.is_blocked()
                found[name] = Check(name, ok, joined(look.words(), check.what))
        return list(found.values())

    async def probe(self, heard_ms: int = PROBE_EVERY_MS) -> None:
        """Ask every node that was not heard of for this long; their standings say what came."""
        await self.find_witness()
        known = [
            one for one in (self._host, *self.chains().values()) if isinstance(one, NodesKnown)
        ]
        # Of a chain without a node that answers each is asked again, whatever it said lately.
        asked = [(one, 0 if outlook_of(one).is_blocked() else heard_ms) for one in known]
        await asyncio.gather(*(one.probe(int(1000 * PROBE_S_MAX), since) for one, since in asked))

    def is_blocked_since(self, at_ms: int) -> bool:
        """Whether the last node of some chain has failed after this time."""
        looks = [self.host(), *(outlook_of(chain) for chain in self.chains().values())]
        bad = [one for look in looks if look.is_blocked() for one in look.bad]
        return any(one.since_ms > at_ms for one in bad)

    async def find_witness(self) -> None:
        """Contract nodes name no chain: a block that a lane has seen tells theirs from others."""
        host = self._host
        if not isinstance(host, Witnessed) or host.witness is not None:
            return
        after: LaneId | None = None
        with suppress(StoreError):  # The next probe reads it again.
            for _ in range(WITNESS_PAGES_MAX):
                views = await contract_lanes(self._store, after, LISTING_SCAN_PAGE)
                for view in views:
                    floor = read_head(view.head.state).floor
                    if floor:
                        host.witness = lane_key(view.tail.lane), floor
                        return
                if len(views) < LISTING_SCAN_PAGE:
                    return
                after = views[-1].tail.lane

    def _chain(self, lane: LaneId) -> object:
        if is_contract(lane):
            return self._host
        if is_account(lane) and self._evm is not None:
            return self._evm.chains.get(self._evm.account(lane).chain_name)
        if is_cosmos(lane) and self._cosmos is not None:
            return self._cosmos.chains.get(self._cosmos.account(lane).chain_name)
        if is_rollup(lane) and self._rollup is not None:
            return self._rollup.rollup(lane).chain
        return None


# What is shown, with what is known of the nodes.


def tx_at(tx: Tx, look: Outlook) -> Tx:
    """A transaction that waits for a node names it, and one that waits for nothing says so. A
    pause holds it up whatever the nodes do."""
    if tx.final or tx.reason.startswith("paused"):
        return tx
    if not look.is_blocked():
        return tx if tx.reason else replace(tx, reason=NEXT)
    trouble = look.bad[0].trouble
    reason = joined(f"{trouble}: {look.words()}", unsaid(tx.reason, look))
    parts = {kind: getattr(tx, kind) for kind in ("evm", "cosmos", "rollup")}
    named = {kind: part for kind, part in parts.items() if part is not None}
    waits = {kind: replace(part, wait_reason=trouble) for kind, part in named.items()}
    return replace(tx, reason=reason, **waits)


def lane_at(lane: Lane, look: Outlook) -> Lane:
    if not look.bad:
        return lane
    state, since, has_work = lane.state, lane.since, lane.waiting + lane.running > 0
    if look.is_blocked() and has_work and state in GOES_ON:
        state, since = "backing off", to_time(look.bad[0].since_ms)
    reason = joined(unsaid(lane.reason, look), look.words())
    return replace(lane, state=state, since=since, reason=reason)


def health_at(health: LaneHealth, look: Outlook) -> LaneHealth:
    if not look.bad:
        return health
    return replace(health, healthy=False, problems=[*health.problems, look.words()])


def unsaid(reason: str, look: Outlook) -> str:
    """What a lane's reason says beside the trouble of a node, which the node's own words name: a
    contract's lane keeps the error of its last try."""
    for one in look.bad:
        begin = reason.find(one.node)
        end = reason.find(one.problem, max(begin, 0))
        if begin >= 0 and end >= 0:
            left = reason[:begin], reason[end + len(one.problem) :]
            return joined(*(text.strip(" ;") for text in left))
    return reason


def joined(*texts: str) -> str:
    return "; ".join(text for text in texts if text)
