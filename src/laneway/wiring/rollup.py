"""Rollups on JAM chains: a configuration → what their lanes need to act."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from laneway.builder.ledger import LedgerBuilder, open_ledger_builder
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.clock import JAM_ERA_MS
from laneway.chains.jam.heads import Pace
from laneway.chains.jam.limits import POLL_MS, SILENCE_MS
from laneway.chains.jam.node import JamPlace
from laneway.chains.jam.words import read_rows
from laneway.core.errors import (
    BadRequest,
    BuildFailed,
    ChainError,
    ChainUnreachable,
    LaneNotFound,
    StoreError,
)
from laneway.core.ids import LaneId
from laneway.core.jam import Parameters
from laneway.devnets.jam.devnet import JamDevnet
from laneway.engine.bundle import BundlePerformer, Heard, Rollup, rollup_lane
from laneway.engine.bundle.rollup import KIND
from laneway.lanes.bundle import BundleSettings, bundle_kind
from laneway.lanes.bundle.rows import Tell, Tip
from laneway.lanes.bundle.show import read_head
from laneway.lanes.kind import LaneKind
from laneway.ports import Clock, JamChain, Store
from laneway.wire.urls import shown_url
from laneway.wire.values import Check
from laneway.wiring.address import is_shared
from laneway.wiring.config import ConfigError
from laneway.wiring.limits import CHAIN_OPEN_RETRY_S, CHAIN_OPEN_S_MAX, PROBE_S_MAX
from laneway.wiring.nodes import outlook_of
from laneway.wiring.rollup_devnet import NODE_NAME, devnet_lines, open_devnet
from laneway.wiring.rollup_service import foreign_line, ledger_head, unfit_cores
from laneway.wiring.schema_rollup import (
    BundleSection,
    RollupSection,
    bundle_settings,
    rollup_nodes,
)

T = TypeVar("T")

SLOT_MS = 6_000
"""Of every chain so far: what the adapter's own times are meant for."""


class RollupShown(Struct, frozen=True):
    """One rollup as people know it, and whom to ask about it."""

    lane: LaneId
    name: str
    kind: str
    service: int
    settings: BundleSettings
    chain: JamChain
    builder: LedgerBuilder


class RollupLanes:
    """The rollups of this process. Opened before the engine starts, for a lane cannot do without
    the sizes of its chain, which only its nodes tell."""

    kind_name = KIND

    def __init__(
        self,
        rollups: Sequence[RollupSection],
        section: BundleSection,
        clock: Clock,
        *,
        store_path: str = ":memory:",
    ) -> None:
        self._sections = rollups
        self.section = section
        self._clock = clock
        self._store_path = store_path
        self.settings: dict[LaneId, BundleSettings] = {}
        self.rollups: dict[LaneId, Rollup] = {}
        self.devnet: JamDevnet | None = None
        """The chain inside this process, where there is one."""
        self._shown: dict[LaneId, RollupShown] = {}
        self._names: dict[str, LaneId] = {}
        self._callbacks: list[Heard] = []
        self._closing: list[Callable[[], Awaitable[None]]] = []
        self.performer = BundlePerformer(self.rollups, clock, heard=self._heard)

    def kind(self) -> LaneKind:
        return bundle_kind(self.settings)

    # What others ask.

    def lanes(self) -> list[LaneId]:
        return list(self._shown)

    def rollup(self, lane: LaneId) -> RollupShown:
        found = self._shown.get(lane)
        if found is None:
            raise LaneNotFound(lane)
        return found

    def lane(self, text: str) -> LaneId:
        """`rollup:SERVICE` or `rollup:NAME`."""
        kind, _, name = text.partition(":")
        found = self._names.get(name) if kind == KIND else None
        if found is None:
            raise LaneNotFound(text)
        return found

    def check(self, lane: LaneId, raw: bytes) -> bytes:
        """The hash of a transaction. BadRequest for what no block can hold any more."""
        return self.rollup(lane).builder.pool.check(raw)

    def hash_of(self, lane: LaneId, raw: bytes) -> bytes:
        """The same of one that may be on the chain already. BadRequest for what is none."""
        return self.rollup(lane).builder.rollup.checked(raw)

    def on_block(self, callback: Heard) -> None:
        self._callbacks.append(callback)

    async def _heard(self, lane: LaneId, tell: Tell) -> None:
        for callback in self._callbacks:
            answer = callback(lane, tell)
            if answer is not None:
                await answer

    # Its life.

    async def open(self) -> None:
        try:
            for section in self._sections:
                await self._open_rollup(section)
        except BaseException:
            await self.close()
            raise

    async def _open_rollup(self, section: RollupSection) -> None:
        places = places_of(section)
        if section.is_embedded():
            self.devnet = open_devnet(section, self._store_path)
            self._closing.append(self.devnet.close)
            await self.devnet.start()
            places = [JamPlace(url=self.devnet.url, name=NODE_NAME)]
        chain = open_chain(section, places, self._clock)
        self._closing.append(chain.aclose)
        sizes = await reached(section, chain, chain.parameters)
        problem = unfit_cores(section, sizes)
        if problem:
            raise ConfigError("laneway", f"{problem} - at `$.rollup`")
        head = await reached(section, chain, partial(ledger_head, chain, section.service))
        if isinstance(head, str):
            raise ConfigError("laneway", f"{section.name}: {head} - at `$.rollup`")
        builder = await self._open_builder(section, chain)
        self._closing.append(builder.aclose)
        self.add(section, chain, builder, sizes, first_number=head.number + 1)

    async def _open_builder(self, section: RollupSection, chain: JamChain) -> LedgerBuilder:
        path = builder_path(section, self._store_path)
        genesis = genesis_of(section) if self.devnet is None else self.devnet.model.genesis
        try:
            return await open_ledger_builder(
                chain, section.service, path, genesis=genesis, slot_ms=section.slot_ms or SLOT_MS
            )
        except BuildFailed as error:
            raise ConfigError("laneway", f"{section.name}: {error} - at `$.rollup`") from error

    def add(
        self,
        section: RollupSection,
        chain: JamChain,
        builder: LedgerBuilder,
        sizes: Parameters,
        *,
        first_number: int = 1,
    ) -> LaneId:
        settings = bundle_settings(self.section, section, chain.nodes, sizes)
        lane = rollup_lane(section.service)
        self.settings[lane] = replace(settings, first_number=first_number)
        self.rollups[lane] = Rollup(chain, builder)
        self._shown[lane] = RollupShown(
            lane,
            section.name,
            section.kind,
            section.service,
            self.settings[lane],
            chain,
            builder,
        )
        self._names[section.name] = self._names[str(section.service)] = lane
        return lane

    async def check_lines(self, store: Store) -> None:
        """Whether each chain has the newest block that its lane saw final."""
        for section in self._sections:
            lane = rollup_lane(section.service)
            chain = self.rollups[lane].chain
            tip = await tip_of(lane, store)
            ask = partial(foreign_line, chain, section.service, tip)
            problem = await reached(section, chain, ask)
            if problem:
                problem = f"{problem}; name another database - at `$.rollup`"
                raise ConfigError(shown_url(self._store_path), problem)

    async def checks(self, store: Store) -> list[Check]:
        """Whether each chain can be reached and is its lane's own, and whether the clocks agree."""
        shown = self._shown.values()
        return list(await asyncio.gather(*(self._check(one, store) for one in shown)))

    async def _check(self, shown: RollupShown, store: Store) -> Check:
        name = shown.lane
        try:
            async with asyncio.timeout(PROBE_S_MAX):
                head = await shown.chain.head()
                clock = await shown.chain.clock()
                tip = await tip_of(shown.lane, store)
                problem = await foreign_line(shown.chain, shown.service, tip)
        except TimeoutError:
            return Check(name, False, f"the chain gave no answer within {PROBE_S_MAX:g} s")
        except ChainError as error:
            return Check(name, False, str(error))
        except StoreError as error:
            return Check(name, False, f"the database could not be read: {error}")
        if problem:
            return Check(name, False, f"{problem}; name nodes of its chain, or another database")
        skew_ms = clock.skew_ms
        if skew_ms is not None and abs(skew_ms) > shown.settings.clock_skew_ms_max:
            return Check(name, False, f"this clock and the chain's are {skew_ms} ms apart")
        return Check(name, True, f"at slot {head.best.slot}")

    def lines(self, server: str) -> list[str]:
        """What a start says of them: where they are, and of a chain of one's own all that is needed
        to try it out."""
        found = [
            f"rollup      {one.lane} ({one.name}) on {' '.join(one.chain.nodes)}"
            for one in self._shown.values()
        ]
        return found if self.devnet is None else [*found, *devnet_lines(self.devnet, server)]

    async def close(self) -> None:
        while self._closing:
            await self._closing.pop()()


async def reached(section: RollupSection, chain: JamChain, ask: Callable[[], Awaitable[T]]) -> T:
    """What a chain answers, if it does before a start has waited long enough."""
    clock = asyncio.get_running_loop().time
    until_s = clock() + CHAIN_OPEN_S_MAX
    while True:
        try:
            async with asyncio.timeout_at(until_s):
                return await ask()
        except (ChainError, TimeoutError) as error:
            if clock() + CHAIN_OPEN_RETRY_S >= until_s:
                said = outlook_of(chain).words() or str(error)
                said = said or f"no answer within {CHAIN_OPEN_S_MAX:g} s"
                advice = "start a node of it, or name others as its `nodes`"
                whose = f"the chain of rollup:{section.service} ({section.name})"
                raise ChainUnreachable(whose, f"{said}; {advice}") from error
        await asyncio.sleep(CHAIN_OPEN_RETRY_S)


async def tip_of(lane: LaneId, store: Store) -> Tip:
    """The newest block of a lane that it saw final."""
    view = await store.lane(lane)
    return read_head(b"" if view is None else view.head.state).tip


def builder_path(section: RollupSection, store_path: str) -> str | None:
    """None: in memory. A fleet's store is no file to stand beside."""
    if section.builder is not None:
        return section.builder
    if store_path == ":memory:":
        return None
    beside = "laneway.db" if is_shared(store_path) else store_path
    return f"{beside}-rollup-{section.service}"


def genesis_of(section: RollupSection) -> bytes | None:
    return None if section.genesis is None else bytes.fromhex(section.genesis[-64:])


def places_of(section: RollupSection) -> list[JamPlace]:
    return [
        JamPlace(
            url=node.url,
            name=node.name,
            calls_per_s=node.calls_per_s,
            client=node.client,
            takes_packages=node.takes_packages,
        )
        for node in rollup_nodes(section)
    ]


def open_chain(section: RollupSection, places: Sequence[JamPlace], clock: Clock) -> Jip2Chain:
    """The adapter is not told of the genesis: nodes that forget old blocks would be turned away.
    The builder compares the service's code with it instead."""
    calendar = section.calendar
    era_ms = JAM_ERA_MS if calendar is True else calendar or None
    slot_ms = section.slot_ms or SLOT_MS
    try:
        return Jip2Chain(
            places,
            slot_ms=section.slot_ms,
            era_ms=era_ms,
            words=read_rows(section.words, f"rollup.{section.name}.words"),
            pace=Pace(
                poll_ms=max(1, POLL_MS * slot_ms // SLOT_MS),
                silence_ms=max(POLL_MS, SILENCE_MS * slot_ms // SLOT_MS),
            ),
            now_ms=clock.now_ms,
        )
    except BadRequest as error:
        raise ConfigError("laneway", f"{section.name}: {error} - at `$.rollup`") from error
