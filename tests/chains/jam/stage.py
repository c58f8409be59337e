"""JAM nodes that say what a test wants, and the adapter before them."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from typing import Any

from tests.jip2_stub import Jip2Stub, Json
from tests.rpc_stub import No

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.chains.nodes import PollPace
from laneway.core.jam import JamBlockRef, Package, Watched
from laneway.jam.hashing import blake2b
from laneway.jam.service.commitment import HEAD_KEY, rivals_key
from laneway.jam.service.values import HEAD, RIVALS, Claim, HeldBlock, ServiceHead
from laneway.wire.jip2 import blob

SERVICE = 1
PACKAGE = blake2b(b"package")
SENT = Package(encoded=b"package")
PACE = PollPace(poll_ms=10, silence_ms=2_000, resubscribe_ms=50)
WAIT_S = 30.0

TINY = {"slot_period_sec": 6, "epoch_period": 12, "max_lookup_anchor_age": 24, "core_count": 2}


def header(name: str) -> bytes:
    """Blocks have names in tests: a fork's letter and a slot."""
    return blake2b(name.encode())


def ref(name: str) -> JamBlockRef:
    return JamBlockRef(header(name), int(name[1:]))


def told(name: str) -> Json:
    return {"header_hash": blob(header(name)), "slot": int(name[1:])}


def reported(name: str, core: int = 0) -> Json:
    return {"reported_in": told(name), "core": core, "report_hash": blob(header(f"r{core}"))}


def watched(anchor: str = "a0", **changes: Any) -> Watched:
    given = {"package_hash": PACKAGE, "anchor": ref(anchor), "service": SERVICE, **changes}
    return Watched(**given)


def line(number: int) -> dict[bytes, bytes]:
    """A service whose newest block has this number."""
    head = ServiceHead(number=number, block=bytes(32), state_root=bytes(32), slot=1)
    return {HEAD_KEY: HEAD.encode(head)}


def waiting(number: int, slot: int, *packages: bytes) -> dict[bytes, bytes]:
    """Blocks that came in this slot and wait for the one before them."""
    root = bytes(32)
    claim = Claim(number=number, parent=root, block=root, pre_root=root, post_root=root)
    rivals = [
        HeldBlock(package_hash=package, exports_root=root, slot=slot, claim=claim)
        for package in packages
    ]
    return {rivals_key(number): RIVALS.encode(tuple(rivals))}


class Node:
    """A node with a tree of blocks. `said` overrides what it answers by method: a value, an
    exception to raise, or a function of the parameters."""

    def __init__(self, chain: str = "a0 a1 a2 a3", *, final: str = "", **said: Any) -> None:
        self.parents: dict[str, str] = {}
        self.names: dict[bytes, str] = {}
        self.best = ""
        self.grow(chain)
        self.final = final or chain.split(maxsplit=1)[0]
        self.statuses: dict[str, Json] = {}
        """By block, and for those behind it that have none of their own."""
        self.records: dict[str, dict[bytes, bytes]] = {}
        """What the service has stored, by block, and for those behind it."""
        self.components: dict[str, dict[bytes, bytes]] = {}
        self.said: dict[str, Any] = said

    def grow(self, chain: str) -> None:
        """Blocks, each on the one before it; the last is the best."""
        names = chain.split()
        for name in names:
            self.names[header(name)] = name
        for parent, name in pairwise(names):
            self.parents[name] = parent
        self.best = names[-1]

    def lineage(self, name: str) -> list[str]:
        names = [name]
        while names[-1] in self.parents:
            names.append(self.parents[names[-1]])
        return names

    def find(self, table: dict[str, Any], name: str) -> Any:
        return next((table[one] for one in self.lineage(name) if one in table), None)

    def named(self, text: str) -> str:
        raw = b64decode(text)
        if raw not in self.names:
            raise No(1, "Block unavailable", text)
        return self.names[raw]

    def status(self, at: str, anchor: str) -> Json:
        found = self.find(self.statuses, at)
        if found is not None:
            return dict(found)
        lineage = self.lineage(at)
        left = 8 - lineage.index(anchor) if anchor in lineage else 0
        if left > 0:
            return {"Reportable": {"remaining_blocks": left}}
        return {"Failed": "anchor is not among the recent blocks of this fork"}

    def __call__(self, method: str, params: list[Any]) -> Any:
        if method in self.said:
            said = self.said[method]
            if isinstance(said, Exception):
                raise said
            return said(params) if callable(said) else said
        if method.startswith(("subscribe", "unsubscribe", "submit")):
            return None
        if method == "parameters":
            return {"V1": TINY}
        if method == "bestBlock":
            return told(self.best)
        if method == "finalizedBlock":
            return told(self.final)
        at = self.named(params[0]) if params else ""
        if method == "parent":
            if at not in self.parents:
                raise No(1, "Block unavailable", blob(bytes(32)))
            return told(self.parents[at])
        if method in ("stateRoot", "beefyRoot"):
            return blob(header(method + at))
        if method == "workPackageStatus":
            return self.status(at, self.named(params[2]))
        if method == "serviceValue":
            found = (self.find(self.records, at) or {}).get(b64decode(params[2]))
            return None if found is None else blob(found)
        if method == "stateValue":
            if not self.components:
                raise No(-32601, "Method not found: stateValue")
            value = (self.find(self.components, at) or {}).get(b64decode(params[1]))
            return None if value is None else blob(value)
        raise No(-32601, f"Method not found: {method}")


@asynccontextmanager
async def served(
    nodes: Sequence[Node], **settings: Any
) -> AsyncIterator[tuple[Jip2Chain, list[Jip2Stub]]]:
    """A chain of nodes a, b, c …; settings by a node's name are its place's."""
    async with AsyncExitStack() as stack:
        stubs = [await stack.enter_async_context(Jip2Stub(node)) for node in nodes]
        places = [
            JamPlace(stub.url, name=name, **settings.pop(name, {}))
            for stub, name in zip(stubs, "abcd", strict=False)
        ]
        chain = Jip2Chain(places, **{"pace": PACE, **settings})
        stack.push_async_callback(chain.aclose)
        yield chain, stubs


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await story()

    asyncio.run(bounded())


async def until(question: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not question():
            await asyncio.sleep(0.002)
