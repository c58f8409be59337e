"""A JAM chain to try things on, in this process: one line starts it, one line ends it.

async with JamDevnet(slot_ms=200) as devnet:
    account = devnet.accounts[0]
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from laneway.devnets.jam.journal import Journal
from laneway.devnets.jam.limits import NODES_COUNT_MAX, ROLLUP_SERVICE_DEV, SLOT_MS_DEFAULT
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.genesis import genesis_hash, pools
from laneway.devnets.jam.model.values import ModelSetup, ServiceSetup, StepReport
from laneway.devnets.jam.node.caller import JamCaller
from laneway.devnets.jam.node.host import JamHost
from laneway.devnets.jam.node.rpc import JamRpc, ask
from laneway.devnets.node.devnet import Devnet
from laneway.devnets.node.serving import Greeting, serve
from laneway.devnets.node.socket import NodeSocket
from laneway.jam.service.commitment import authorizer_records
from laneway.jam.spec import FULL, TINY, ChainSpec
from laneway.rollups.default import DEFAULT
from laneway.rollups.kind import KindOfRollup

SPECS = {spec.name: spec for spec in (TINY, FULL)}


class JamDevnet(Devnet[JamHost]):
    """A chain, its nodes and their sockets. Everything is forgotten when the process ends, unless
    there is a journal."""

    def __init__(
        self,
        *,
        slot_ms: int = SLOT_MS_DEFAULT,
        spec: ChainSpec = TINY,
        rollup: KindOfRollup[Any, Any] = DEFAULT,
        authorizers: Sequence[bytes] = (),
        services: Mapping[int, ServiceSetup] | None = None,
        nodes: int = 1,
        port: int = 0,
        setup: ModelSetup | None = None,
        journal: Journal | None = None,
    ) -> None:
        """With `slot_ms` 0 a slot passes only on command. Without `services` there is one rollup,
        whose known accounts have a balance and whose line these `authorizers` may move, by their
        hashes; every core takes them. Without any, all may. The first node is at `port`, the
        others at free ones. A `setup` replaces all other arguments about the chain. With a
        `journal` the chain goes on where it ended, with the authorizers that it began with;
        everything else must be set up as it was."""
        self.rollup = rollup
        self.accounts = rollup.dev_accounts()
        if setup is None:
            setup = ModelSetup(spec=spec, nodes=nodes)
            if services is None:
                begun = None if journal is None else journal.authorizers()
                listed = authorizers if begun is None else begun
                setup = replace(setup, authorizers=pools(spec, listed))
                services = {ROLLUP_SERVICE_DEV: rollup_service(setup, rollup, listed)}
            setup = replace(setup, services=services)
        assert 0 < setup.nodes <= NODES_COUNT_MAX
        host = JamHost(setup, slot_ms=slot_ms)
        sockets = [
            NodeSocket(JamRpc(), JamCaller, host, node, port=port if node == 0 else 0)
            for node in range(setup.nodes)
        ]
        super().__init__(host, sockets)
        self._journal = journal
        self.replayed_count = 0
        """How many slots and calls the start played again."""

    @property
    def model(self) -> JamModel:
        """Anyone who changes it by hand calls `settle` afterwards."""
        return self._host.model

    @property
    def slot_ms(self) -> int:
        """Milliseconds of a slot; 0 if a slot passes only on command."""
        return self._host.interval_ms

    @property
    def urls(self) -> tuple[str, ...]:
        """Each node's WebSocket."""
        return tuple(socket.ws_url for socket in self._sockets)

    @property
    def http_url(self) -> str:
        """Where single calls may be posted."""
        return self._sockets[0].url

    async def start(self) -> None:
        if self._journal is not None:
            self.replayed_count = self._journal.load(self._host)
        await super().start()

    async def close(self) -> None:
        await super().close()
        if self._journal is not None:
            self._journal.close()

    def say(self, method: str, *params: object, node: int = 0) -> object:
        """One call without the socket; RpcRefused is the node's refusal."""
        return ask(self._host, node, method, list(params))

    def step(self, count: int = 1) -> StepReport:
        """Let timeslots pass; returns the report of the last one."""
        assert count > 0
        for _ in range(count):
            done = self._host.step()
        return done

    def subscriptions(self) -> Mapping[str, int]:
        """How many connections and subscriptions are open, and how many ever were."""
        return self._host.subscriptions()


def rollup_service(
    setup: ModelSetup,
    rollup: KindOfRollup[Any, Any] = DEFAULT,
    authorizers: Sequence[bytes] = (),
) -> ServiceSetup:
    """The service of a rollup, as a development chain begins with it. The genesis header does not
    depend on the services, and a service's code depends on it."""
    storage = {**rollup.dev_storage(), **authorizer_records(authorizers)}
    return ServiceSetup(service=rollup.service(genesis_hash(setup)), storage=storage)


def run_devnet(
    rollup: KindOfRollup[Any, Any],
    *,
    port: int,
    slot_ms: int,
    spec: str,
    nodes: int,
    as_json: bool,
) -> int:
    """The JAM devnet as a process."""
    devnet = JamDevnet(port=port, slot_ms=slot_ms, spec=SPECS[spec], nodes=nodes, rollup=rollup)
    return asyncio.run(serve(devnet, greeting, as_json=as_json))


def greeting(devnet: JamDevnet) -> Greeting:
    model, table = devnet.model, table_of(devnet)
    keys = {account.id.hex(): account.secret.hex() for account in devnet.accounts}
    place = {
        "url": devnet.url,
        "urls": devnet.urls,
        "genesis": model.genesis.hex(),
        "spec": model.spec.name,
        "service": ROLLUP_SERVICE_DEV,
        "toml": table,
        "accounts": [{"id": account, "key": key} for account, key in keys.items()],
    }
    known = f"; its accounts and their keys, which everybody knows, {devnet.rollup.dev_note}:"
    return place, [
        f"listening on {' '.join(devnet.urls)}",
        f"{model.spec.name} chain, genesis {model.genesis.hex()}",
        f"the {devnet.rollup.name} is service {ROLLUP_SERVICE_DEV}{known if keys else ''}",
        *(f"  {account}  {key}" for account, key in keys.items()),
        *("", "in a laneway.toml:", "", table),
    ]


def table_of(devnet: JamDevnet) -> str:
    """The table of laneway.toml that configures a rollup on this devnet."""
    nodes = ", ".join(f'"{url}"' for url in devnet.urls)
    lines = [
        "[[rollup]]",
        'name = "pay"',
        *([] if devnet.rollup.name == DEFAULT.name else [f'kind = "{devnet.rollup.name}"']),
        f"service = {ROLLUP_SERVICE_DEV}",
        f"nodes = [{nodes}]",
        f'genesis = "{devnet.model.genesis.hex()}"',
    ]
    # The chain's own parameters say six seconds, and a chain that is stepped has no pace at all.
    if devnet.slot_ms not in (0, SLOT_MS_DEFAULT):
        lines.append(f"slot_ms = {devnet.slot_ms}")
    return "\n".join(lines)
