"""What a layout is: keys by which another program knows the lanes of one kind.

They stand beside the rows, and change in the scripts that change the rows, so that no crash can
part the two. The store sends along what a layout names and knows the meaning of none of it. Its
layouts, one for each kind of lane that has any, are handed in when it is opened. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Arrival
from laneway.core.rows import Command, Rows, Write
from laneway.stores.redis.rows.keys import Names

Word: TypeAlias = str | bytes | int
LayoutCommand: TypeAlias = tuple[str, Sequence[str], Sequence[str], Sequence[str]]
"""A command and its keys, the words that are the same for all of them, and those that are each
key's own, in the order of the keys. `UNLESS` drops its key if the key named before it is gone."""


class LaneKeys(Protocol):
    """The keys of one lane, and what stands there of an arrival."""

    @property
    def lock(self) -> str:
        """The key that holds the owner's name. While it holds another, nothing is written."""

    def of_arrivals(self) -> tuple[str, str, str]:
        """Waiting intents by time, all intents with `terms`' first, and lanes by its second."""

    def terms(self) -> tuple[str, str]: ...
    def of_arrival(self, intent: IntentId) -> str:
        """The hash that shows one intent."""

    def shows(self, arrival: Arrival) -> tuple[str, ...]:
        """Its time, then the fields of its hash: `FIELDS` words in all."""

    def of_command(self, command: Command) -> tuple[str, ...]:
        """A mark, and which commands made it; none for most commands."""

    def of_pruned(self, intents: Sequence[IntentId]) -> list[str]:
        """All intents; then for each of these two keys that go with it."""


FIELDS = 7
"""Words that each arrival of a lane with a layout is shown by: a time, and three fields."""


class LayoutView(Protocol):
    """What stands in a lane's keys because of its rows, at one version of them."""

    fence: int
    version: int
    queued: dict[IntentId, int]
    """When the intents that rows name came in."""

    def missing(self, write: Write) -> list[IntentId]:
        """Intents whose time of arrival must be known before this commit can be shown."""

    def advance(self, write: Write) -> list[LayoutCommand]:
        """What the next commit changes; the view is one version further then."""


class Layout(Protocol):
    """The keys of all lanes of one kind."""

    def keys(self, names: Names, lane: LaneId) -> LaneKeys | None:
        """The lane's keys; None if it is not shown in a store that names its keys so."""

    def view(self, names: Names, rows: Rows) -> LayoutView: ...


Layouts: TypeAlias = Mapping[str, Layout]
"""By the kind of lane, which is the first word of a lane's id."""


NO_LAYOUTS: Layouts = {}


def layout_of(layouts: Layouts, lane: LaneId) -> Layout | None:
    return layouts.get(lane.partition(":")[0])


def keys_of(layouts: Layouts, names: Names, lane: LaneId) -> LaneKeys | None:
    layout = layout_of(layouts, lane)
    return None if layout is None else layout.keys(names, lane)
