"""Which server answers for a group of lanes, and what it must be like.

The plain form has one. In a Cluster the slots say which, and a question that meets a slot that has
moved follows it. Each server has two connections, so that a long page does not hold up the lanes.
"""

import asyncio
import logging
from functools import partial
from hashlib import sha1
from importlib.resources import files
from typing import Any, Literal

from msgspec import Struct
from redis.asyncio.connection import Connection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.crc import key_slot

from laneway.core.errors import StoreBusy, StoreError, StoreRefused
from laneway.core.urls import shown_url
from laneway.stores.redis.limits import CONNECT_MS_MAX, MOVES_MAX, REWRITE_LOOK_MS, REWRITE_LOOKS
from laneway.stores.redis.rows import keys
from laneway.stores.redis.scripts.calls import SCRIPTS, ScriptCall, ScriptCaller
from laneway.stores.redis.servers import checks
from laneway.stores.redis.servers.connection import (
    Forgotten,
    Moved,
    RedisCommand,
    RedisConnection,
    Reply,
)

log = logging.getLogger("laneway.stores")

Durable = Literal["full", "relaxed"]
Address = tuple[str, int] | str


class Script(Struct, frozen=True):
    text: str
    sha: str


def scripts() -> dict[str, Script]:
    """Every script with the prelude that all of them begin with."""
    folder = files("laneway.stores.redis.scripts") / "lua"
    prelude = (folder / "prelude.lua").read_text()
    found = {}
    for name in SCRIPTS:
        text = prelude + (folder / f"{name}.lua").read_text()
        # The server's own name for a script; nothing is kept safe by it.
        found[name] = Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())
    return found


class Servers:
    """Asks a script or a command of the group that can answer it."""

    def __init__(
        self,
        url: str,
        sender: ScriptCaller,
        *,
        durability: Durable,
        replicas_min: int | None,
        wait_ms: int,
    ) -> None:
        try:
            self._arguments: dict[str, Any] = dict(parse_url(url))
        except ValueError:
            # The error's own text may hold a part of the password, so it is not kept.
            problem = "not an address like redis://USER:PASSWORD@HOST:6379/0; a password's own "
            problem += "'/', '?', '#' and '@' are written as %2F, %3F, %23 and %40"
            raise StoreRefused(shown_url(url), problem) from None
        self._class: type[Connection] = self._arguments.pop("connection_class", Connection)
        self._names = sender.names
        self._sender = sender
        self._relaxed = durability == "relaxed"
        self._replicas_min = replicas_min
        self._wait_ms = wait_ms
        self._born = ""
        self._scripts = scripts()
        self._wires: dict[tuple[Address, bool], RedisConnection] = {}
        self._slots: dict[int, Address] = {}
        """For each group of a Cluster its server; empty until someone asked."""
        self._seen: list[Address] = [self.home()]
        self._attached: dict[Address, int] = {}
        """How many replicas each server has."""
        self._runs: dict[Address, str] = {}
        """The run id of the server at each address when it was last reached."""
        self._looking = asyncio.Lock()
        self._looks = 0
        self.weak = False
        """Whether a power cut could take back what was answered."""

    def home(self) -> Address:
        """The server that was named at the start."""
        if "path" in self._arguments:
            return str(self._arguments["path"])
        host = self._arguments.get("host", "localhost")
        return str(host), int(self._arguments.get("port", 6379))

    def another(self, number: int) -> Address:
        """One of the servers that were seen, another one for the next number."""
        return self._seen[number % len(self._seen)]

    # Questions.

    def run(self, call: ScriptCall) -> "asyncio.Future[Reply]":
        return self.ask(call.shard, self._line(call), write=call.is_write())

    def _line(self, call: ScriptCall) -> RedisCommand:
        script = self._scripts[call.script]
        return ("EVALSHA", script.sha, len(call.keys), *call.keys, *call.sent())

    def ask(
        self, shard: int, line: RedisCommand, *, write: bool = False
    ) -> "asyncio.Future[Reply]":
        """The reply to one command; it is sent in the order in which it was asked."""
        asked = self._asked(shard, line, write)
        return asyncio.ensure_future(self._followed(asked, shard, line, write))

    def _asked(self, shard: int, line: RedisCommand, write: bool) -> "asyncio.Future[Reply]":
        address = self._address(shard)
        if address is not None:
            return self._wire(address, write).ask(line, write=write)
        lost: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        lost.set_exception(Moved(f"nobody knows yet which server holds group {shard}"))
        return lost

    async def _followed(
        self, asked: "asyncio.Future[Reply]", shard: int, line: RedisCommand, write: bool
    ) -> Reply:
        """The answer, after as many other tries as scripts and slots need that are not there."""
        for _ in range(MOVES_MAX):
            looked = self._looks
            try:
                return await asked
            except Moved:
                await self._look(looked)
            except Forgotten:
                text = next(s.text for s in self._scripts.values() if s.sha == line[1])
                line = ("EVAL", text, *line[2:])
            except StoreBusy:
                # After a failover the group is elsewhere: the next question looks where.
                self._slots.clear()
                raise
            asked = self._asked(shard, line, write)
        raise StoreBusy(f"group {shard} moves from server to server")

    async def _look(self, looked: int) -> None:
        """Read which server holds which slots, from any that answers."""
        async with self._looking:
            if self._looks != looked and self._slots:
                return  # Somebody else has just looked.
            self._looks += 1
            error = StoreBusy("no server of the Cluster answers")
            for address in self._seen:
                try:
                    found = await self._wire(address, False).ask(("CLUSTER", "SLOTS"), write=False)
                except StoreBusy as busy:
                    error = busy
                    continue
                self._slots = self._placed(found)
                self._seen = list(dict.fromkeys([*self._slots.values(), *self._seen]))
                return
            raise error

    def _placed(self, found: list[Any]) -> dict[int, Address]:
        home = self.home()
        placed: dict[int, Address] = {}
        for shard in range(self._names.shards):
            slot = key_slot(self._names.shared(shard, keys.META).encode())
            for first, last, master, *_ in found:
                if first <= slot <= last:
                    host = master[0].decode() if master[0] else home[0]
                    placed[shard] = (host, int(master[1]))
        if len(placed) < self._names.shards:
            raise StoreBusy("the Cluster does not cover all slots")
        return placed

    # Connections.

    def _wire(self, address: Address, write: bool) -> RedisConnection:
        wire = self._wires.get((address, write))
        if wire is None:
            checked = partial(self._check_writer if write else self._check_reader, address)
            connect = partial(self.connection, address)
            wire = RedisConnection(spoken(address), connect, checked, wait_ms=self._wait_ms)
            self._wires[(address, write)] = wire
        return wire

    def connection(self, address: Address) -> Connection:
        arguments = dict(self._arguments)
        if not isinstance(address, str):
            arguments["host"], arguments["port"] = address
        return self._class(
            **arguments,
            protocol=2,
            socket_timeout=None,
            socket_connect_timeout=CONNECT_MS_MAX / 1000,
            retry=Retry(NoBackoff(), 0),
            client_name="laneway",
        )

    async def _check_reader(self, address: Address, wire: RedisConnection) -> int:
        (server,) = await checked(wire, ("INFO", "server"))
        await self._load_scripts(wire)
        self._found(address, sections(server)["run_id"], write=False)
        return 0

    async def _load_scripts(self, wire: RedisConnection) -> None:
        await checked(wire, *(("SCRIPT", "LOAD", one.text) for one in self._scripts.values()))

    def _found(self, address: Address, run: str, *, write: bool) -> None:
        """One address is one server: what is read must be what is written to."""
        known, self._runs[address] = self._runs.get(address, run), run
        other = self._wires.get((address, not write))
        if known != run and other is not None:
            other.doubt()

    async def _check_writer(self, address: Address, wire: RedisConnection) -> int:
        """What the server must be like, asked anew whenever it was away."""
        about, found, role = await self._judged(wire)
        await self._load_scripts(wire)
        if not self._names.tagged:
            await self._check_data(wire)
        own = [shard for shard in range(self._names.shards) if self._address(shard) == address]
        if own and found.get("appendonly") == "yes":
            await self._rewrite_log(wire, self._names.shared(own[0], keys.META), about["run_id"])
        self._attached[address] = online(role)
        seen = await self._meet(wire, own, about, online(role))
        self._found(address, about["run_id"], write=True)
        return checks.replicas_wanted(self._replicas_min, seen)

    async def _judged(self, wire: RedisConnection) -> tuple[dict[str, str], dict[str, str], Reply]:
        """What the server says about itself, its settings and its role; one that could forget is
        refused."""
        settings: list[RedisCommand] = [("CONFIG", "GET", name) for name in checks.SETTINGS]
        server, replication, role, *rest = await wire.check(
            ("INFO", "server"), ("INFO", "replication"), ("ROLE",), *settings
        )
        raise_any([server, replication, role])
        about = sections(server) | sections(replication)
        checks.check_version(wire.address, about["redis_version"])
        checks.check_role(wire.address, about["role"])
        found: dict[str, str] = {}
        for reply in rest:
            # A server that hides its settings is taken for one that has not set them.
            if isinstance(reply, list) and len(reply) == 2:
                found[reply[0].decode()] = reply[1].decode()
        if not checks.check_settings(wire.address, found, relaxed=self._relaxed):
            self.weak = True
        return about, found, role

    async def look(self) -> str:
        """A description of the server that was named; nothing is written."""
        found_out: list[str] = []

        async def check(wire: RedisConnection) -> int:
            about, _, role = await self._judged(wire)
            if not self._names.tagged:
                meta = self._names.shared(0, keys.META)
                (kept,) = await checked(wire, ("HGET", meta, "layout"))
                layout = self._names.layout()
                checks.check_layout(
                    wire.address, wanted=layout, found=kept.decode() if kept else layout
                )
                found_out.append(
                    "it holds a store" if kept else "the first start makes a store there"
                )
            found_out.insert(0, f"Redis {about['redis_version']} with {online(role)} replicas")
            return 0

        home = self.home()
        wire = RedisConnection(
            spoken(home), partial(self.connection, home), check, wait_ms=self._wait_ms
        )
        try:
            await wire.ask(("PING",), write=False)
        finally:
            await wire.close()
        return "; ".join(found_out)

    async def _meet(
        self, wire: RedisConnection, own: list[int], about: dict[str, str], count: int
    ) -> int:
        """Void the leases of before if the server was promoted; the most replicas it ever had."""
        history, older = about["master_replid"], about["master_replid2"].strip("0")
        calls = [self._sender.meet(shard, history, older, count) for shard in own]
        replies = await checked(wire, *(self._line(call) for call in calls))
        if any(promoted for promoted, _ in replies):
            log.warning("%s was promoted: every lane is claimed and loaded again", wire.address)
        return max([count, *(int(seen) for _, seen in replies)])

    async def count_replicas(self) -> None:
        """See those that were attached since, so that they are waited for too."""
        found = map(self._address, range(self._names.shards))
        used = dict.fromkeys(address for address in found if address is not None)
        wires = [self._wire(address, True) for address in used]
        asked = [wire.ask(("ROLE",), write=False) for wire in wires]
        roles = await asyncio.gather(*asked, return_exceptions=True)
        for address, wire, role in zip(used, wires, roles, strict=True):
            if isinstance(role, BaseException):
                continue  # The next write there is answered why.
            self._attached[address] = online(role)
            if checks.replicas_wanted(self._replicas_min, online(role)) > wire.replicas:
                wire.doubt()

    def unsafe(self) -> list[str]:
        """Which servers have replicas that may be promoted without what was answered."""
        found = []
        for address, attached in self._attached.items():
            wire = self._wires.get((address, True))
            if wire is not None and wire.replicas < attached:
                found.append(
                    f"a write to {wire.address} is answered when {wire.replicas} of its {attached} "
                    "replicas have it; another, once promoted, may have lost it (replicas_min)"
                )
        return found

    async def _check_data(self, wire: RedisConnection) -> None:
        meta, layout = self._names.shared(0, keys.META), self._names.layout()
        if not self._born:
            born = ("HSETNX", meta, "born", self._sender.token)
            await checked(wire, ("HSETNX", meta, "layout", layout), born)
        (found,) = await checked(wire, ("HMGET", meta, "layout", "born"))
        kept, born_as = (one.decode() if one else "" for one in found)
        checks.check_born(wire.address, known=self._born, found=born_as)
        checks.check_layout(wire.address, wanted=layout, found=kept)
        self._born = born_as

    async def _rewrite_log(self, wire: RedisConnection, meta: str, run: str) -> None:
        """Have the log of a server that was started again written anew, before we add to it.

        When a crash tears the log inside a script, Redis drops the torn command and leaves the
        script's MULTI open in the file. What is written after it is read as a part of that, and
        the next start may apply half of a script or lose what was answered since (found here on
        7.0.15; fixed in Valkey by its change 4342). Memory is right, so a rewrite is too.
        """
        (known,) = await checked(wire, ("HGET", meta, "run"))
        if known is not None and known.decode() == run:
            return
        # A store that is new wrote nothing that could be torn.
        looks = REWRITE_LOOKS if known is not None else 0
        for look in range(looks):
            (info,) = await checked(wire, ("INFO", "persistence"))
            log_state = sections(info)
            under_way = (log_state["aof_rewrite_in_progress"], log_state["aof_rewrite_scheduled"])
            if under_way == ("0", "0"):
                is_ok = log_state["aof_last_bgrewrite_status"] == "ok"
                if is_ok and log_state["aof_rewrites"] != "0":
                    break
                (begun,) = await wire.check(("BGREWRITEAOF",))
                # Another process may have asked for it since we looked.
                if not (isinstance(begun, StoreError) and "already in progress" in str(begun)):
                    raise_any([begun])
            if look == looks - 1:
                raise StoreBusy(f"{wire.address} was started again and still rewrites its log")
            await asyncio.sleep(REWRITE_LOOK_MS / 1000)
        await checked(wire, ("HSET", meta, "run", run))

    def _address(self, shard: int) -> Address | None:
        return self._slots.get(shard) if self._names.tagged else self.home()

    async def open(self) -> None:
        """Reach every server once, so that a wrong one is refused at the start."""
        for shard in range(self._names.shards):
            await self.ask(shard, ("PING",), write=True)
        if self._names.tagged:
            meta, layout = self._names.shared(0, keys.META), self._names.layout()
            await self.ask(0, ("HSETNX", meta, "layout", layout), write=True)
            found = await self.ask(0, ("HGET", meta, "layout"), write=True)
            checks.check_layout("the Cluster", wanted=layout, found=found.decode())

    async def close(self) -> None:
        for wire in self._wires.values():
            await wire.close()
        self._wires.clear()


def spoken(address: Address) -> str:
    """How errors name a server."""
    return f"redis {address if isinstance(address, str) else f'{address[0]}:{address[1]}'}"


def sections(info: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in info.decode().splitlines() if ":" in line)
    return {name: value for name, _, value in pairs}


def online(role: Reply) -> int:
    """How many replicas follow a master; none if it is none."""
    return len(role[2]) if role[0] == b"master" else 0


async def checked(wire: RedisConnection, *lines: RedisCommand) -> list[Reply]:
    """The replies of a server that was just reached; the first error among them is raised."""
    replies = await wire.check(*lines)
    raise_any(replies)
    return replies


def raise_any(replies: list[Reply]) -> None:
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
