"""Rollups on JAM chains: a configuration → what their lanes need to act."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from msgspec import convert
from msgspec.structs import replace

from laneway.builder.builder import ChainedBuilder
from laneway.builder.opener import open_builder
from laneway.builder.packages import Authorizer
from laneway.builder.reads import BuilderReads
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.clock import JAM_ERA_MS
from laneway.chains.jam.node import JamPlace
from laneway.chains.jam.parameters import parameters_of
from laneway.chains.jam.phrases import read_rows
from laneway.chains.limits import POLL_MS, SILENCE_MS
from laneway.chains.nodes import PollPace
from laneway.core.errors import (
    BadRequest,
    BuildFailed,
    ChainError,
    ChainUnreachable,
    LanewayError,
    StoreError,
    StoreRefused,
)
from laneway.core.ids import LaneId
from laneway.core.jam import Parameters
from laneway.core.urls import shown_url
from laneway.devnets.jam.devnet import JamDevnet
from laneway.engine.bundle import BlockCallback, Rollup, rollup_lane
from laneway.engine.bundle.rollup import KIND
from laneway.engine.bundle.watching import WatchingPerformer
from laneway.jam.package import authorizer_hash
from laneway.kinds.common.lanes import AccountLanes
from laneway.kinds.config import ConfigError
from laneway.kinds.limits import (
    CHAIN_LATE_RETRY_S_MAX,
    CHAIN_OPEN_RETRY_S,
    CHAIN_OPEN_S_MAX,
    PROBE_S_MAX,
)
from laneway.kinds.outlook import outlook_of
from laneway.kinds.rollup.closed import ClosedReads, shelved_genesis
from laneway.kinds.rollup.devnet import (
    NODE_NAME,
    devnet_lines,
    embedded_authorizer,
    open_devnet,
)
from laneway.kinds.rollup.lagging import BuilderWatch, skewed
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
from laneway.kinds.rollup.service import authorizer_of, foreign_line, rollup_head, unfit_cores
from laneway.kinds.rollup.views import ClosedRollup, ConfiguredRollup
from laneway.lanes.bundle import BundleSettings, bundle_kind, show
from laneway.lanes.bundle.rows import BundleHead, Tell, seen_final
from laneway.lanes.kind import LaneKind
from laneway.ports import Clock, JamChain, Store
from laneway.rollups.domain import Domain
from laneway.stores.address import is_shared
from laneway.wire.values import Check

T = TypeVar("T")

log = logging.getLogger("laneway.bundle")

SLOT_MS = 6_000
"""Of every chain so far: what the adapter's own times are meant for."""


class ChainAsk(Protocol):
    """Asks a chain, and waits for its answer as long as its caller can."""

    async def __call__(self, question: Callable[[], Awaitable[T]], /) -> T: ...


class RollupLanes(AccountLanes[RollupSection, ConfiguredRollup]):
    """The rollups of this process; a lane cannot do without the sizes of its chain, which only its
    nodes know. One whose nodes are all down is entered as closed, and opened when one answers."""

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
        self.store: Store | None = None
        """With it a chain is compared with what its lane saw final."""
        self.settings: dict[LaneId, BundleSettings] = {}
        self.rollups: dict[LaneId, Rollup] = {}
        self.devnet: JamDevnet | None = None
        """The chain inside this process, where there is one."""
        self._authorizers: dict[LaneId, Authorizer] = {}
        self._late: list[asyncio.Task[None]] = []
        self._callbacks: list[BlockCallback] = []
        self.performer = WatchingPerformer(self.rollups, clock, on_block=self._on_block)

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
        """What is wrong with the addresses, tables and keys of the chains, without asking them."""
        for section in self.sections:
            authorizer_of(section)
            if not section.is_embedded():
                await open_chain(section, places_of(section), self._clock).aclose()

    async def _open_table(self, section: RollupSection) -> None:
        places, lane = places_of(section), rollup_lane(section.service)
        if not section.is_embedded():
            self._authorizers[lane] = authorizer_of(section)
        else:
            own = await asyncio.to_thread(embedded_authorizer, section, self._store_path)
            self._authorizers[lane] = own
            self.devnet = open_devnet(section, self._store_path, own)
            self._closing.append(self.devnet.close)
            await self.devnet.start()
            places = [JamPlace(url=self.devnet.url, name=NODE_NAME)]
        chain = open_chain(section, places, self._clock)
        self._closing.append(chain.aclose)
        try:
            await self._open_rollup(section, chain, partial(reached, section))
        except ChainError as error:
            await self._enter_closed(section, chain, error)

    async def _open_rollup(self, section: RollupSection, chain: JamChain, ask: ChainAsk) -> None:
        """ConfigError or StoreRefused where what is configured does not fit the chain."""
        sizes = await ask(chain.parameters)
        problem = unfit_cores(section, sizes)
        if problem:
            raise ConfigError("laneway", f"{problem} - at `$.rollup`")
        authorizer = self._authorizers[rollup_lane(section.service)]
        head = await ask(partial(rollup_head, chain, section, authorizer))
        if isinstance(head, str):
            raise ConfigError("laneway", f"{section.name}: {head} - at `$.rollup`")
        builder = await self._open_builder(section, chain, authorizer)
        try:
            await self._check_line(section, chain, ask)
            lane = self.add(section, chain, builder, sizes, first_number=head.number + 1)
        except BaseException:
            await builder.aclose()
            raise
        self._closing.append(builder.aclose)
        watch = self.configured[lane].watch
        assert watch is not None
        self._closing.append(watch.stop)
        watch.start()

    async def _open_builder(
        self, section: RollupSection, chain: JamChain, authorizer: Authorizer
    ) -> ChainedBuilder[Any, Any]:
        genesis = genesis_of(section) if self.devnet is None else self.devnet.model.genesis
        try:
            return await open_builder(
                rollup_kinds()[section.kind],
                chain,
                section.service,
                builder_path(section, self._store_path),
                genesis=genesis,
                authorizer=authorizer,
                blocks_kept=section.blocks_kept,
                latest_is_safe=section.latest_is_safe,
                slot_ms=section.slot_ms or SLOT_MS,
            )
        except BuildFailed as error:
            raise ConfigError("laneway", f"{section.name}: {error} - at `$.rollup`") from error

    async def _check_line(self, section: RollupSection, chain: JamChain, ask: ChainAsk) -> None:
        """Whether the chain has the newest block that its lane saw final."""
        if self.store is None:
            return
        tip = seen_final(await head_of(rollup_lane(section.service), self.store))
        problem = await ask(partial(foreign_line, chain, section.service, tip))
        if problem:
            problem = f"{problem}; name another database - at `$.rollup`"
            raise ConfigError(shown_url(self._store_path), problem)

    # Rollups whose nodes are all down at the start.

    async def _enter_closed(
        self, section: RollupSection, chain: JamChain, error: ChainError
    ) -> None:
        """Its transactions are taken in, and every view of it says why it is not served."""
        path = builder_path(section, self._store_path)
        genesis = genesis_of(section) or await asyncio.to_thread(shelved_genesis, path)
        rules = None
        if genesis is not None:
            rules = rollup_kinds()[section.kind].rules(Domain(genesis, section.service))
        sizes = parameters_of({})
        sizes = replace(sizes, slot_ms=section.slot_ms or sizes.slot_ms)
        lane = rollup_lane(section.service)
        configured = ConfiguredRollup(
            lane,
            section.name,
            section.kind,
            section.service,
            bundle_settings(self.section, section, chain.nodes, sizes),
            chain,
            ClosedReads(lane, partial(self._why_closed, lane), rules),
            genesis or b"",
        )
        self.chains[lane] = chain
        self.enter(lane, configured, (section.name, str(section.service)))
        self._close(lane, error)

    def _close(self, lane: LaneId, error: LanewayError) -> None:
        """Keep why it is not served; a line of the log says so once."""
        place = self.configured[lane]
        closed, before = closed_by(place.chain, error, self._clock.now_ms()), place.closed
        if before is not None and before.is_unfit == closed.is_unfit:
            closed = replace(closed, since_ms=before.since_ms)
        else:
            log.error("Rollup is not served", extra={"lane": lane, "reason": closed.words()})
        self.configured[lane] = replace(place, closed=closed)

    def _why_closed(self, lane: LaneId) -> str:
        closed = self.configured[lane].closed
        return "" if closed is None else closed.words()

    def open_late(self, opened: Callable[[LaneId], None]) -> None:
        """Open those that are closed as soon as a node of theirs answers, and report each."""
        for section in self.sections:
            lane = rollup_lane(section.service)
            if self.configured[lane].closed is not None:
                task = asyncio.create_task(self._open_later(section, opened))
                task.add_done_callback(partial(self._late_ended, lane))
                self._late.append(task)
        self._closing.append(self._end_late)

    def _late_ended(self, lane: LaneId, task: "asyncio.Task[None]") -> None:
        """A bug leaves one rollup closed, with its reason."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.critical("Rollup could not be opened", exc_info=error, extra={"lane": lane})
            self._close(lane, ConfigError("laneway", f"stopped by a bug: {error!r}"))

    async def _open_later(self, section: RollupSection, opened: Callable[[LaneId], None]) -> None:
        lane, pause_s = rollup_lane(section.service), CHAIN_OPEN_RETRY_S
        chain = self.configured[lane].chain
        while True:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, CHAIN_LATE_RETRY_S_MAX)
            try:
                await self._open_rollup(section, chain, asked)
            except LanewayError as error:
                self._close(lane, error)
            else:
                log.warning("Rollup is served from now on", extra={"lane": lane})
                opened(lane)
                return

    async def _end_late(self) -> None:
        for task in self._late:
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)

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
        self.rollups[lane] = Rollup(chain, builder, settings.clock_skew_ms_max)
        reads = BuilderReads(builder)
        configured = ConfiguredRollup(
            lane,
            section.name,
            section.kind,
            section.service,
            self.settings[lane],
            chain,
            reads,
            builder.domain.chain,
            watch=BuilderWatch(reads, settings.slot_ms, self._clock.monotonic_ms, chain.clock),
        )
        self.chains[lane] = chain
        return self.enter(lane, configured, (section.name, str(section.service)))

    def _check_cores(self, section: RollupSection, genesis: bytes, cores: tuple[int, ...]) -> None:
        """The configuration alone does not show which rollups are on one chain."""
        for other in [one for one in self.configured.values() if one.closed is None]:
            claimed = claimed_twice(other.settings.cores, cores)
            if other.genesis == genesis and claimed:
                problem = shared_core(other.name, section.name, claimed)
                raise ConfigError("laneway", f"{problem} - at `$.rollup`")

    async def checks(self, store: Store) -> list[Check]:
        """Whether each chain can be reached and is its lane's own, and whether the clocks agree."""
        rollups = self.configured.values()
        return list(await asyncio.gather(*(self._check(one, store) for one in rollups)))

    async def _check(self, rollup: ConfiguredRollup, store: Store) -> Check:
        name = rollup.lane
        if rollup.closed is not None:
            return Check(name, False, rollup.closed.words())
        try:
            async with asyncio.timeout(PROBE_S_MAX):
                head = await rollup.chain.head()
                clock = await rollup.chain.clock()
                lane = await head_of(rollup.lane, store)
                problem = await foreign_line(rollup.chain, rollup.service, seen_final(lane))
        except TimeoutError:
            return Check(name, False, f"the chain gave no answer within {PROBE_S_MAX:g} s")
        except ChainError as error:
            return Check(name, False, str(error))
        except StoreError as error:
            return Check(name, False, f"the database could not be read: {error}")
        if problem:
            return Check(name, False, f"{problem}; name nodes of its chain, or another database")
        if unwell := rollup.unwell(lane):
            return Check(name, False, unwell)
        if problem := skewed(clock.skew_ms, rollup.settings.clock_skew_ms_max):
            return Check(name, False, problem)
        return Check(name, True, f"at slot {head.best.slot}")

    def lines(self, server: str) -> list[str]:
        """What a start says of them: where they are, and of a chain of one's own all that is needed
        to try it out."""
        found = [
            f"rollup      {one.lane} ({one.name}) on {' '.join(one.chain.nodes)}"
            for one in self.configured.values()
        ]
        found += [
            f"authorizer  {authorizer_hash(own.code_hash, own.config).hex()} of {lane}, "
            f"by the key {own.config.hex()}"
            for lane, own in self._authorizers.items()
            if own.key is not None
        ]
        return found if self.devnet is None else [*found, *devnet_lines(self.devnet, server)]


async def reached(section: RollupSection, ask: Callable[[], Awaitable[T]], /) -> T:
    """What a chain answers, if it does before a start has waited long enough."""
    clock = asyncio.get_running_loop().time
    until_s = clock() + CHAIN_OPEN_S_MAX
    while True:
        try:
            async with asyncio.timeout_at(until_s):
                return await ask()
        except (ChainError, TimeoutError) as error:
            if clock() + CHAIN_OPEN_RETRY_S >= until_s:
                problem = str(error) or f"no answer within {CHAIN_OPEN_S_MAX:g} s"
                whose = f"the chain of rollup:{section.service} ({section.name})"
                raise ChainUnreachable(whose, problem) from error
        await asyncio.sleep(CHAIN_OPEN_RETRY_S)


async def asked(question: Callable[[], Awaitable[T]], /) -> T:
    """What a chain answers, however long its adapter takes for it."""
    return await question()


def closed_by(chain: JamChain, error: LanewayError, now_ms: int) -> ClosedRollup:
    """Why a rollup could not be opened."""
    if isinstance(error, ChainError):
        problem = outlook_of(chain).words() or str(error)
        return ClosedRollup(since_ms=now_ms, problem=problem)
    is_unfit = isinstance(error, ConfigError | StoreRefused)
    return ClosedRollup(since_ms=now_ms, problem=str(error), is_unfit=is_unfit)


async def head_of(lane: LaneId, store: Store) -> BundleHead:
    """A lane's own head, as its last commit left it."""
    view = await store.lane(lane)
    return show.read_head(b"" if view is None else view.head.state)


def builder_path(section: RollupSection, store_path: str) -> str | None:
    """None: in memory. A fleet's store is no file to stand beside."""
    if section.builder is not None:
        return section.builder
    if store_path == ":memory:":
        return None
    beside = "laneway.db" if is_shared(store_path) else store_path
    return f"{beside}-rollup-{section.service}"


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
            steady=clock.monotonic_ms,
        )
    except BadRequest as error:
        raise ConfigError("laneway", f"{section.name}: {error} - at `$.rollup`") from error
