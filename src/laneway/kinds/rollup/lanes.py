"""Rollups on JAM chains: a configuration → what their lanes need to act."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec import convert
from msgspec.structs import replace

from laneway.builder.builder import ChainedBuilder
from laneway.builder.opener import open_builder
from laneway.builder.packages import NULL_AUTHORIZER, Authorizer
from laneway.builder.reads import BuilderReads
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.clock import JAM_ERA_MS
from laneway.chains.jam.node import JamPlace
from laneway.chains.jam.phrases import read_rows
from laneway.chains.limits import POLL_MS, SILENCE_MS
from laneway.chains.nodes import PollPace
from laneway.core.errors import (
    BadRequest,
    BuildFailed,
    ChainError,
    ChainUnreachable,
    StoreError,
)
from laneway.core.ids import LaneId
from laneway.core.jam import Parameters
from laneway.core.urls import shown_url
from laneway.devnets.jam.devnet import JamDevnet
from laneway.engine.bundle import BlockCallback, BundlePerformer, Rollup, rollup_lane
from laneway.engine.bundle.rollup import KIND
from laneway.kinds.common.lanes import AccountLanes
from laneway.kinds.config import ConfigError
from laneway.kinds.limits import CHAIN_OPEN_RETRY_S, CHAIN_OPEN_S_MAX, PROBE_S_MAX
from laneway.kinds.outlook import outlook_of
from laneway.kinds.rollup.arrivals import octets_of
from laneway.kinds.rollup.devnet import NODE_NAME, devnet_lines, open_devnet
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.kinds.rollup.section import (
    BundleSection,
    RollupSection,
    bundle_settings,
    claimed_twice,
    genesis_of,
    rollup_nodes,
    shared_core,
)
from laneway.kinds.rollup.service import foreign_line, rollup_head, unfit_cores
from laneway.kinds.rollup.views import ConfiguredRollup
from laneway.lanes.bundle import BundleSettings, bundle_kind
from laneway.lanes.bundle.rows import Tell, Tip
from laneway.lanes.bundle.show import read_head
from laneway.lanes.kind import LaneKind
from laneway.ports import Clock, JamChain, Store
from laneway.stores.address import is_shared
from laneway.wire.values import Check

T = TypeVar("T")

SLOT_MS = 6_000
"""Of every chain so far: what the adapter's own times are meant for."""


class RollupLanes(AccountLanes[RollupSection, ConfiguredRollup]):
    """The rollups of this process; a lane cannot do without the sizes of its chain, which only its
    nodes know."""

    kind_name = KIND

    def __init__(
        self,
        rollups: Sequence[RollupSection],
        section: BundleSection,
        clock: Clock,
        *,
        store_path: str = ":memory:",
    ) -> None:
        super().__init__(rollups)
        self.section = section
        self._clock = clock
        self._store_path = store_path
        self.settings: dict[LaneId, BundleSettings] = {}
        self.rollups: dict[LaneId, Rollup] = {}
        self.devnet: JamDevnet | None = None
        """The chain inside this process, where there is one."""
        self._callbacks: list[BlockCallback] = []
        self.performer = BundlePerformer(self.rollups, clock, on_block=self._on_block)

    def rollup(self, lane: LaneId) -> ConfiguredRollup:
        """The rollup that a lane serves."""
        return self.account(lane)

    def machine(self) -> LaneKind:
        return bundle_kind(self.settings)

    def on_block(self, callback: BlockCallback) -> None:
        self._callbacks.append(callback)

    async def _on_block(self, lane: LaneId, tell: Tell) -> None:
        for callback in self._callbacks:
            answer = callback(lane, tell)
            if answer is not None:
                await answer

    # Its life.

    async def rehearse(self) -> None:
        """What is wrong with the addresses and tables of the chains, without asking them."""
        for section in self.sections:
            if not section.is_embedded():
                await open_chain(section, places_of(section), self._clock).aclose()

    async def _open_table(self, section: RollupSection) -> None:
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
        head = await reached(section, chain, partial(rollup_head, chain, section))
        if isinstance(head, str):
            raise ConfigError("laneway", f"{section.name}: {head} - at `$.rollup`")
        builder = await self._open_builder(section, chain)
        self._closing.append(builder.aclose)
        self.add(section, chain, builder, sizes, first_number=head.number + 1)

    async def _open_builder(
        self, section: RollupSection, chain: JamChain
    ) -> ChainedBuilder[Any, Any]:
        genesis = genesis_of(section) if self.devnet is None else self.devnet.model.genesis
        try:
            return await open_builder(
                rollup_kinds()[section.kind],
                chain,
                section.service,
                builder_path(section, self._store_path),
                genesis=genesis,
                authorizer=authorizer_of(section),
                blocks_kept=section.blocks_kept,
                latest_is_safe=section.latest_is_safe,
                slot_ms=section.slot_ms or SLOT_MS,
            )
        except BuildFailed as error:
            raise ConfigError("laneway", f"{section.name}: {error} - at `$.rollup`") from error

    def add(
        self,
        section: RollupSection,
        chain: JamChain,
        builder: ChainedBuilder[Any, Any],
        sizes: Parameters,
        *,
        first_number: int = 1,
    ) -> LaneId:
        settings = bundle_settings(self.section, section, chain.nodes, sizes)
        self._check_cores(section, builder.domain.chain, settings.cores)
        lane = rollup_lane(section.service)
        self.settings[lane] = replace(settings, first_number=first_number)
        self.rollups[lane] = Rollup(chain, builder)
        configured = ConfiguredRollup(
            lane,
            section.name,
            section.kind,
            section.service,
            self.settings[lane],
            chain,
            BuilderReads(builder),
            builder.domain.chain,
        )
        self.chains[lane] = chain
        return self.enter(lane, configured, (section.name, str(section.service)))

    def _check_cores(self, section: RollupSection, genesis: bytes, cores: tuple[int, ...]) -> None:
        """The configuration alone does not show which rollups are on one chain."""
        for other in self.configured.values():
            claimed = claimed_twice(other.settings.cores, cores)
            if other.genesis == genesis and claimed:
                problem = shared_core(other.name, section.name, claimed)
                raise ConfigError("laneway", f"{problem} - at `$.rollup`")

    async def check_lines(self, store: Store) -> None:
        """Whether each chain has the newest block that its lane saw final."""
        for section in self.sections:
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
        rollups = self.configured.values()
        return list(await asyncio.gather(*(self._check(one, store) for one in rollups)))

    async def _check(self, rollup: ConfiguredRollup, store: Store) -> Check:
        name = rollup.lane
        try:
            async with asyncio.timeout(PROBE_S_MAX):
                head = await rollup.chain.head()
                clock = await rollup.chain.clock()
                tip = await tip_of(rollup.lane, store)
                problem = await foreign_line(rollup.chain, rollup.service, tip)
        except TimeoutError:
            return Check(name, False, f"the chain gave no answer within {PROBE_S_MAX:g} s")
        except ChainError as error:
            return Check(name, False, str(error))
        except StoreError as error:
            return Check(name, False, f"the database could not be read: {error}")
        if problem:
            return Check(name, False, f"{problem}; name nodes of its chain, or another database")
        skew_ms = clock.skew_ms
        if skew_ms is not None and abs(skew_ms) > rollup.settings.clock_skew_ms_max:
            return Check(name, False, f"this clock and the chain's are {skew_ms} ms apart")
        return Check(name, True, f"at slot {head.best.slot}")

    def lines(self, server: str) -> list[str]:
        """What a start says of them: where they are, and of a chain of one's own all that is needed
        to try it out."""
        found = [
            f"rollup      {one.lane} ({one.name}) on {' '.join(one.chain.nodes)}"
            for one in self.configured.values()
        ]
        return found if self.devnet is None else [*found, *devnet_lines(self.devnet, server)]


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
                problem = outlook_of(chain).words() or str(error)
                problem = problem or f"no answer within {CHAIN_OPEN_S_MAX:g} s"
                advice = "start a node of it, or name others as its `nodes`"
                whose = f"the chain of rollup:{section.service} ({section.name})"
                raise ChainUnreachable(whose, f"{problem}; {advice}") from error
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


def authorizer_of(section: RollupSection) -> Authorizer:
    chosen = section.authorizer
    if chosen is None:
        return Authorizer(host=section.service, code_hash=NULL_AUTHORIZER)
    return Authorizer(
        host=chosen.host,
        code_hash=octets_of(chosen.code_hash),
        config=octets_of(chosen.config),
        authorization=octets_of(chosen.authorization),
    )


def places_of(section: RollupSection) -> list[JamPlace]:
    return convert(rollup_nodes(section), list[JamPlace], from_attributes=True)


def open_chain(section: RollupSection, places: Sequence[JamPlace], clock: Clock) -> Jip2Chain:
    """The adapter does not know the genesis: nodes that forget old blocks would be turned away.
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
            pace=PollPace(
                poll_ms=max(1, POLL_MS * slot_ms // SLOT_MS),
                silence_ms=max(POLL_MS, SILENCE_MS * slot_ms // SLOT_MS),
            ),
            now_ms=clock.now_ms,
        )
    except BadRequest as error:
        raise ConfigError("laneway", f"{section.name}: {error} - at `$.rollup`") from error
