"""The server's desk for accounts' lanes, whatever their chain is."""

from typing import Any, Generic, TypeVar

from laneway.core.errors import IntentNotFound
from laneway.core.ids import IntentId
from laneway.core.intent import Accepted, Arrival, IntentRow
from laneway.core.rows import LaneView
from laneway.ports import IntentView, Store
from laneway.wire.numbers import read_digits
from laneway.wire.values import Tx
from laneway.wiring.account_shown import AccountTeller, empty_view

T = TypeVar("T", bound=AccountTeller[Any, Any])


class AccountDesk(Generic[T]):
    """Finds accounts' transactions by their numbers; what else differs stands below."""

    def __init__(self, store: Store, teller: T) -> None:
        self._store = store
        self.teller = teller

    async def view(self, lane: str) -> LaneView:
        """A configured account has a lane before anything was queued for it."""
        name = self.teller.name(lane)
        return await self._store.lane(name) or empty_view(name)

    async def at_number(self, lane: str, digits: str) -> IntentId:
        try:
            number = read_digits(digits)
        except ValueError:
            raise IntentNotFound(f"{lane}#{digits}") from None
        name = self.teller.name(lane)
        bound = self.teller.at_number(name, number)
        if bound is not None:
            return bound
        index = await self._store.find(self.teller.number_index, f"{name}#{number}")
        if index is None:
            raise IntentNotFound(f"{lane}#{digits}")
        return index.intent

    # What each kind knows for itself.

    def accepted(self, arrival: Arrival, answer: Accepted) -> Tx:
        raise NotImplementedError

    def again(self, view: IntentView) -> Arrival:
        """What a dead one said last, in its place."""
        raise NotImplementedError

    def effect(self, verb: str, row: IntentRow, /) -> str:
        """What a word would do; an account's lane decides when it hears it."""
        raise NotImplementedError

    def followed(self, verb: str, row: IntentRow, /, *, final: bool) -> str:
        """What it did."""
        raise NotImplementedError
