"""The configured accounts or rollups of one kind: their lanes, names and chains in this process."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from laneway.core.errors import LaneNotFound
from laneway.core.ids import LaneId
from laneway.engine.shell import Performer
from laneway.kinds.config import ConfigError
from laneway.lanes.kind import LaneKind
from laneway.signers.place import shown_signer

S = TypeVar("S")
A = TypeVar("A")


class AccountLanes(Generic[S, A]):
    """Opened before the engine starts, for a lane needs what only its signer or its chain knows.
    `S` is a table of the configuration, `A` an account as its configuration names it."""

    kind_name: ClassVar[str]
    performer: Performer

    def __init__(self, sections: Sequence[S]) -> None:
        self.sections = sections
        self.chains: dict[str, Any] = {}
        self.configured: dict[LaneId, A] = {}
        self._names: dict[str, LaneId] = {}
        """Lanes by what people write after `KIND:`."""
        self._closing: list[Callable[[], Awaitable[None]]] = []

    @abstractmethod
    def machine(self) -> LaneKind:
        """The machine of these lanes."""

    def lanes(self) -> list[LaneId]:
        return list(self.configured)

    def account(self, lane: LaneId) -> A:
        found = self.configured.get(lane)
        if found is None:
            raise LaneNotFound(lane)
        return found

    def lane(self, text: str) -> LaneId:
        """The lane of a name; LaneNotFound."""
        kind, _, name = text.partition(":")
        found = self._names.get(self.spelled(name)) if kind == self.kind_name else None
        if found is None:
            raise LaneNotFound(text)
        return found

    def spelled(self, name: str) -> str:
        """The one spelling of a name, where there are several."""
        return name

    def enter(self, lane: LaneId, account: A, names: Iterable[str]) -> LaneId:
        self.configured[lane] = account
        self._names |= dict.fromkeys(names, lane)
        return lane

    async def open(self) -> None:
        try:
            for section in self.sections:
                await self._open_table(section)
        except BaseException:
            await self.close()
            raise

    @abstractmethod
    async def _open_table(self, section: S) -> None:
        """Open what one table names, and enter its lanes."""

    async def close(self) -> None:
        while self._closing:
            await self._closing.pop()()


def account_names(chain: Any, account: Any, address: str) -> list[str]:
    """`CHAIN:ACCOUNT`, each by its name or by what it stands for."""
    names = (account.name, address)
    return [f"{one}:{name}" for one in (chain.name, chain.chain_id) for name in names]


def check_twins(chain: Any, account: Any, twin: Any) -> None:
    """ConfigError where another account of the chain has the same address; `twin` is that one."""
    if twin is not None:
        problem = f"{account.name} and {twin.name} are one account on {chain.name}"
        raise ConfigError(shown_signer(account.signer), problem)
