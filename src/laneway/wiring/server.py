"""`laneway up`: a configuration → an engine and its server, until a signal ends it.

SIGTERM and SIGINT stop accepting, finish commits, start no send and answer what is under way; the
second one ends the process at once, which loses nothing either.
"""

import asyncio
import resource
from collections.abc import Callable
from contextlib import suppress

from laneway.console.exits import EXIT_FAILED
from laneway.core.errors import LanewayError, StoreError
from laneway.core.urls import shown_url, shown_urls
from laneway.engine.listeners import Listener
from laneway.engine.system import SystemClock
from laneway.feeds.metrics import Meter
from laneway.feeds.stream import Stream
from laneway.kinds.config import ConfigError
from laneway.kinds.contract.host import is_file
from laneway.kinds.events import events_of
from laneway.kinds.following import LaneFollowing
from laneway.kinds.registry import kinds
from laneway.kinds.site import SITE
from laneway.ports import Durability
from laneway.server.app import Bounds, Server
from laneway.server.health import WaitingDoor
from laneway.stores.sqlite.database import sqlite_version
from laneway.wiring.config import Configuration, is_loopback
from laneway.wiring.desk import EngineDesk
from laneway.wiring.doctor import access
from laneway.wiring.embedded import Laneway
from laneway.wiring.keys import read_keys
from laneway.wiring.limits import FILES_SPARE, NODES_EVERY_MS
from laneway.wiring.nodes import ProcessNodes
from laneway.wiring.opening import open_laneway
from laneway.wiring.process import calm_collector, exit_code, unwatch_signals, watch_signals
from laneway.wiring.readiness import durability_words
from laneway.wiring.schema import Config
from laneway.wiring.store import once_reached

Say = Callable[[str], None]


class Ending(Listener):
    """What ends a server: a signal, or an engine that cannot go on."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.failure: Exception | None = None

    def failed(self, error: Exception) -> None:
        self.failure = error
        self.came.set()

    async def came_within(self, wait_ms: int) -> bool:
        """Whether a signal came while this waited; afterwards the next one ends the process."""
        try:
            async with asyncio.timeout(wait_ms / 1000):
                return await self.came.wait()
        except TimeoutError:
            return False
        finally:
            unwatch_signals()


class Up:
    """An engine with its server. Enter it to start it."""

    def __init__(self, configuration: Configuration) -> None:
        section = configuration.config.server
        self.section = section
        self.ending = Ending()
        self.stream = Stream(events_of)
        following = LaneFollowing()
        meter, per_lane = Meter(), section.metrics_per_lane
        # Read first: a mistake here must not leave a store open.
        self.keys = () if section.keys_file is None else read_keys(section.keys_file)
        meters = {
            name: kind.metrics(meter.registry, per_lane=per_lane) for name, kind in kinds().items()
        }
        counting = {name: one for name, one in meters.items() if one is not None}
        listeners = (self.ending, self.stream, following, *counting.values())
        self.laneway = open_laneway(configuration, listeners)
        for name, counted in counting.items():
            self.laneway.kinds[name].metered(counted)
        self.stream.store = self.laneway.store
        self.desk = EngineDesk(self.laneway, following, self.stream, meter, counting)
        large = any(one.is_large and one.is_running() for one in self.laneway.kinds.values())
        bounds = Bounds(
            body_bytes_max=section.body_bytes_max,
            tx_body_bytes_max=section.tx_body_bytes_max if large else 0,
            connections_max=section.connections_max,
            request_s_max=section.request_ms_max / 1000,
        )
        self.server = Server(self.desk, SITE, keys=self.keys, bounds=bounds)
        meter.connections.set_function(self.server.connections)

    async def __aenter__(self) -> "Up":
        await self.laneway.__aenter__()
        try:
            await self.desk.trail.keys(self.keys)
            await self.server.__aenter__()
            await self._listen(self.section.port, "server.port")
            if self.section.seed_port is not None:
                await self._listen(self.section.seed_port, "server.seed_port")
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _listen(self, port: int, path: str) -> None:
        try:
            await self.server.listen(self.section.listen, port)
        except OSError as error:
            address = f"{self.section.listen}:{port}"
            problem = f"{address}: {error.strerror or error} - at `$.{path}`"
            raise ConfigError("cannot listen", problem) from error

    async def close(self) -> None:
        """Stop accepting, finish commits, start no send; then answer what is under way."""
        self.desk.draining = True
        self.server.deafen()
        await self.laneway.engine.stop()
        self.stream.close()
        await self.server.close()
        await self.laneway.close()


async def opened(configuration: Configuration, say: Say) -> Up | None:
    """A server whose store can be reached; one that others share is waited for. None if a signal
    came first, StoreBusy if it took longer than `store.start_ms_max`."""
    store, section = configuration.config.store, configuration.config.server
    ending, door = Ending(), WaitingDoor()

    async def open_() -> Up:
        up = Up(configuration)  # This asks PostgreSQL; Redis is asked when it is first read.
        try:
            if up.laneway.shared:
                await up.laneway.store.lanes(None, 1)
        except BaseException:
            await up.laneway.close()
            raise
        return up

    async def rest(line: str, wait_ms: int) -> bool:
        watch_signals(ending.came)
        door.why = shown_urls(line)
        with suppress(OSError):  # Where it cannot listen, the start itself will say so.
            await door.open(section.listen, section.port)
        say(line)
        return not await ending.came_within(wait_ms)

    wait_ms_max = 0 if is_file(store.path) else store.start_ms_max
    try:
        return await once_reached(open_, wait_ms_max, SystemClock(), rest)
    finally:
        await door.close()


async def serve(configuration: Configuration, say: Say) -> int:
    """One life of a server; the number is its exit code."""
    allow_files(configuration.config.server.connections_max + FILES_SPARE)
    up = await opened(configuration, say)
    if up is None:
        say("stopped before the store could be reached; nothing was begun")
        return 0
    async with up:
        watch_signals(up.ending.came)
        calm_collector()
        for line in greeting(configuration, up.server.urls, up.laneway):
            say(line)
        watching = asyncio.create_task(watch_nodes(up.laneway.nodes, say))
        await up.ending.came.wait()
        watching.cancel()
        say("stopping: no more is accepted, commits are finished")
    failure = up.ending.failure
    if failure is None:
        say("stopped; what is queued goes on at the next start")
        return 0
    code = failure.code if isinstance(failure, LanewayError) else "bug"
    say(f"failed: {code}: {failure}")
    return exit_code(failure) if isinstance(failure, StoreError) else EXIT_FAILED


async def watch_nodes(nodes: ProcessNodes, say: Say) -> None:
    """Ask all nodes once and say which fail; then, now and then, those that no lane asks. What
    changes later is in the log."""
    await nodes.probe()
    for node in nodes.bad():
        say(f"caution     {node.trouble}: {node.words()}")
    while True:
        await asyncio.sleep(NODES_EVERY_MS / 1000)
        await nodes.probe(NODES_EVERY_MS)


def greeting(configuration: Configuration, urls: list[str], laneway: Laneway) -> list[str]:
    config = configuration.config
    lines = [f"REST        {urls[0]}/v1/transactions"]
    lines += [f"events      {urls[0]}/v1/events"]
    lines += [f"operations  {urls[0]}/readyz  {urls[0]}/metrics  {urls[0]}/docs"]
    if len(urls) > 1:
        lines += [f"seed 004    {urls[1]}/api/execute-smart-contract"]
    place, form = config.store.path, f"SQLite {'.'.join(map(str, sqlite_version()))}"
    if laneway.shared:
        place, form = shown_url(place), "shared"
    lines += [f"database    {place} ({form}, {laneway.store.durability.value})"]
    durability, *cautions = durability_words(laneway.store)
    if laneway.store.durability is Durability.RELAXED:
        cautions.insert(0, durability)
    cautions += access_words(config, laneway)
    lines += [f"caution     {caution}" for caution in cautions]
    lines += [line for kind in laneway.kinds.values() for line in kind.greeting(urls[0])]
    if config.server.keys_file is not None:
        lines += [f"access      API keys of {config.server.keys_file}"]
    else:
        assert is_loopback(config.server.listen)
        lines += ["access      loopback only, no keys"]
    return lines


def access_words(config: Config, laneway: Laneway) -> list[str]:
    """What to do if others may read the database, which may be one of an earlier release."""
    if not is_file(config.store.path):
        return []
    beside = [file for kind in laneway.kinds.values() for file in kind.files()]
    found = access([config.store.path, *beside])
    return [] if found.ok else [f"{found.what}; {found.advice}"]


def allow_files(wanted: int) -> None:
    """Each connection is a file; the soft limit is often 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
