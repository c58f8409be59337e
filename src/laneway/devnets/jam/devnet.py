"""A JAM chain to try things on, in this process: one line starts it, one line ends it.

async with JamDevnet(slot_ms=200) as devnet:
    account = devnet.accounts[0]
"""

from collections.abc import Mapping
from types import TracebackType

from msgspec.structs import replace

from laneway.devnets.jam.accounts import DEV_ACCOUNTS
from laneway.devnets.jam.calls import ask
from laneway.devnets.jam.host import JamHost
from laneway.devnets.jam.journal import Journal
from laneway.devnets.jam.limits import (
    BALANCE_DEV,
    LEDGER_SERVICE_DEV,
    NODES_COUNT_MAX,
    SLOT_MS_DEFAULT,
)
from laneway.devnets.jam.model import JamModel
from laneway.devnets.jam.socket import JamSocket
from laneway.devnets.jam.values import ModelSetup, ServiceSetup, StepReport
from laneway.jam.service.ledger.service import LedgerService
from laneway.jam.service.ledger.state import genesis
from laneway.jam.spec import TINY, ChainSpec


class JamDevnet:
    """A chain, its nodes and their sockets. Everything is forgotten when the process ends, unless
    there is a journal."""

    def __init__(
        self,
        *,
        slot_ms: int = SLOT_MS_DEFAULT,
        spec: ChainSpec = TINY,
        services: Mapping[int, ServiceSetup] | None = None,
        nodes: int = 1,
        port: int = 0,
        setup: ModelSetup | None = None,
        journal: Journal | None = None,
    ) -> None:
        """`slot_ms` 0: a slot passes only when told to. Without `services` there is the ledger, in
        which the known accounts have something. The first node is at `port`, the others wherever
        there is room. A `setup` says all that a chain is made from, and is taken as it is. With a
        `journal` the chain goes on where it ended; everything else that was set up must be as it
        was."""
        self.accounts = DEV_ACCOUNTS
        if setup is None:
            setup = ModelSetup(spec=spec, nodes=nodes)
            if services is None:
                services = {LEDGER_SERVICE_DEV: ledger(setup)}
            setup = replace(setup, services=services)
        assert 0 < setup.nodes <= NODES_COUNT_MAX
        self._host = JamHost(setup, slot_ms=slot_ms)
        self._journal = journal
        self.replayed_count = 0
        """Slots and calls that were played again when it started."""
        self._sockets = [
            JamSocket(self._host, node, port=port if node == 0 else 0)
            for node in range(setup.nodes)
        ]

    @property
    def model(self) -> JamModel:
        """Whoever changes it by hand says `settle` afterwards."""
        return self._host.model

    @property
    def slot_ms(self) -> int:
        """0: a slot passes only when told to."""
        return self._host.slot_ms

    @property
    def url(self) -> str:
        return self._sockets[0].url

    @property
    def urls(self) -> tuple[str, ...]:
        """Each node's."""
        return tuple(socket.url for socket in self._sockets)

    @property
    def http_url(self) -> str:
        """Where single calls may be posted."""
        return self._sockets[0].http_url

    async def start(self) -> None:
        if self._journal is not None:
            self.replayed_count = self._journal.load(self._host)
        try:
            for socket in self._sockets:
                await socket.open()
        except OSError:
            await self.close()
            raise
        self._host.start()

    async def close(self) -> None:
        self._host.close()
        for socket in self._sockets:
            await socket.close()
        if self._journal is not None:
            self._journal.close()

    async def __aenter__(self) -> "JamDevnet":
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def say(self, method: str, *params: object, node: int = 0) -> object:
        """One call without the socket; RpcRefused is the node's no."""
        return ask(self._host, node, method, list(params))

    def step(self, count: int = 1) -> StepReport:
        """Let timeslots pass; what the last one came to."""
        assert count > 0
        for _ in range(count):
            done = self._host.step()
        return done

    def settle(self) -> None:
        """Tell what is new."""
        self._host.settle()

    def subscriptions(self) -> Mapping[str, int]:
        """How many connections and subscriptions are open, and how many ever were."""
        return self._host.subscriptions()

    async def stop_node(self, node: int) -> None:
        """It answers nobody; the chain goes on without it."""
        await self._sockets[node].close()

    async def start_node(self, node: int) -> None:
        """Back at the same place, with all that it has missed."""
        await self._sockets[node].open()


def ledger(setup: ModelSetup) -> ServiceSetup:
    """The ledger of a chain, in which the known accounts have something. The genesis header does
    not depend on the services, and the ledger's code depends on it."""
    chain = JamModel(replace(setup, services={})).genesis
    balances = {account.id: BALANCE_DEV for account in DEV_ACCOUNTS}
    return ServiceSetup(service=LedgerService(chain), storage=genesis(balances))
