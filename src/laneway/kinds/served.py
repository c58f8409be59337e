"""The lanes of one kind as a process serves them: how they run, what comes in, and their views."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from msgspec import Struct

from laneway.core.errors import CommandUnfit, IntentNotFound
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Answer, Arrival, IntentRow
from laneway.core.rows import Index, LaneView, Result
from laneway.engine.listeners import Listener
from laneway.engine.shell import Engine
from laneway.kinds.audit.trail import Audit
from laneway.kinds.following import LaneFollowing, command_answer
from laneway.kinds.handle import Handle, Handles, ResultSource, Settled, taken
from laneway.kinds.outlook import Outlook
from laneway.kinds.revival import Revival
from laneway.lanes.kind import LaneKind
from laneway.ports import Clock, IntentView, Store
from laneway.wire.values import Check, Lane, LaneHealth, Tx

if TYPE_CHECKING:
    from laneway.engine.shell import Performer


SERVER_DEFAULT = "http://127.0.0.1:8547"
"""Where commands look for a server unless another is named."""


class Opening(Struct, frozen=True):
    """What a kind is opened with."""

    config: Any
    clock: Clock
    origins: Mapping[str, tuple[str, str]] = {}
    """Where each key of the configuration came from that is not a default."""


class Home(ResultSource, Protocol):
    """The running engine that serves the kinds, as they know it."""

    store: Store
    handles: Handles

    @property
    def kinds(self) -> "Mapping[str, Served]": ...


class Verb(Struct, frozen=True):
    """A command that one kind of lane knows, beside those of all."""

    name: str
    whose: str
    """Why another kind cannot follow it."""


class CommandPlan(Struct, frozen=True):
    """What a command to a lane would do, in words and in numbers."""

    effect: str
    shown: Mapping[str, Any] = {}
    """Fields of the answer beside the words."""


class Served:
    """One kind of lane in this process. What is not overridden fits a kind without it."""

    name: ClassVar[str]
    is_large: ClassVar[bool] = False
    """Whether a request may have megabytes, so that few of them are read at once."""
    is_listed: ClassVar[bool] = True
    intent_verbs: ClassVar[Sequence[Verb]] = ()
    lane_verbs: ClassVar[Sequence[Verb]] = ()
    performer: "Performer | None" = None
    """What carries out its effects; None if it orders none."""
    home: Home

    # Its life.

    def is_running(self) -> bool:
        """Whether its lanes run in this process. Those of one that is no longer configured are
        still shown."""
        return True

    def machine(self) -> LaneKind:
        raise NotImplementedError

    def answer_now(self) -> Callable[..., Any] | None:
        """Answers effects within the turn that ordered them, where the kind has such."""
        return getattr(self.performer, "answer_now", None)

    def listeners(self) -> Sequence[Listener]:
        """Who is notified of its commits: its log, and what its own clients wait for."""
        return ()

    def attach(self, home: Home) -> None:
        """Called once, before anything of it is opened."""
        self.home = home

    async def open(self) -> None:
        """Open what needs I/O, before the engine starts."""

    async def started(self) -> None:
        """The engine runs now."""

    async def stopping(self) -> None:
        """Nothing more is accepted, and the engine is about to stop."""

    async def close(self) -> None: ...

    @property
    def engine(self) -> Engine:
        return self.home.engine

    @property
    def store(self) -> Store:
        return self.home.store

    # What comes in.

    def lane_name(self, text: str) -> LaneId:
        """The lane's own id for what people write; LaneNotFound."""
        return LaneId(text)

    def named(self, lane: str) -> str:
        """The same for a name that is only asked for."""
        return self.lane_name(lane)

    def arrival(self, new: Any, key: str | None, scope: str, trace: str) -> Arrival:
        """The arrival of a body of the type `new`, over REST."""
        raise NotImplementedError

    def requested(
        self, lane: LaneId, request: Any, key: str | None, valid_until_ms: int | None, **more: Any
    ) -> Arrival:
        """The arrival of a request of the library: the kind's own type, or the REST body's payload
        as plain values."""
        raise NotImplementedError

    def accept(self, arrival: Arrival) -> Awaitable[Answer]:
        return self.home.engine.submit(arrival)

    async def take(
        self, new: Any, key: str | None, scope: str, trace: str
    ) -> tuple[Arrival, Answer]:
        """Durable when it answers, or refused."""
        arrival = self.arrival(new, key, scope, trace)
        return arrival, await self.accept(arrival)

    async def submit(
        self,
        lane: str,
        request: Any,
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
        **more: Any,
    ) -> Handle:
        """Queue a request of the library; returns when it is durable."""
        arrival = self.requested(self.lane_name(lane), request, key, valid_until_ms, **more)
        handle = self.home.handles.add(Handle(self.home, arrival.id, arrival.lane))
        return raised(taken(self.home, arrival, await self.engine.submit(arrival), handle))

    async def retry(self, view: IntentView) -> tuple[Arrival, Answer]:
        """Queue the last content of a dead intent, in its place."""
        arrival = self.again(view)
        return arrival, await self.accept(arrival)

    def again(self, view: IntentView) -> Arrival:
        raise NotImplementedError

    # Views.

    def accepted(self, arrival: Arrival, answer: Accepted, new: Any = None) -> Tx:
        """A transaction that became durable just now. `new` is the body it came in, of the type
        `new`, where there was one."""
        raise NotImplementedError

    async def view(self, lane: str) -> LaneView:
        """The rows of a lane; LaneNotFound."""
        raise NotImplementedError

    def tx(self, view: IntentView, lane: LaneView) -> Tx:
        raise NotImplementedError

    async def explained(self, tx: Tx) -> Tx:
        """One transaction with what only its chain can say of it, for a person who looks at it:
        briefly asked, and as it was where nobody answers."""
        return tx

    def lane(self, view: LaneView, oldest_ms: int | None, now_ms: int) -> Lane:
        raise NotImplementedError

    def health(self, view: LaneView) -> LaneHealth:
        raise NotImplementedError

    def pruned(self, left: Index) -> Tx:
        """What is left of an intent that retention removed."""
        raise NotImplementedError

    def settled(self, result: Result) -> Settled:
        """The final answer, as the library has it."""
        return Settled(result.intent, result.status, result.number, result.reason)

    async def at_number(self, lane: str, digits: str) -> IntentId:
        """The intent that is meant by `LANE#NUMBER`."""
        raise IntentNotFound(f"{lane}#{digits}")

    # Commands.

    async def effect(self, verb: str, view: IntentView, argument: Any = None) -> str:
        """What a command to an intent would do; CommandUnfit where it cannot be followed."""
        raise NotImplementedError

    def followed(self, verb: str, row: IntentRow, *, final: bool, argument: Any = None) -> str:
        """What a command did to an intent."""
        raise NotImplementedError

    def ordered(self, verb: str, row: IntentRow, argument: Any) -> tuple[str, bytes]:  # noqa: ARG002
        """The argument of such a command, as text and as bytes."""
        return "", b""

    def command_answer(self, verb: str, intent: IntentId | None, record: Any) -> str | None:
        """What a record says of a command to its lane, or about this intent: why it was refused,
        nothing ("") if it was followed, None if the record is about something else."""
        return command_answer(verb, intent, record)

    async def plan(self, verb: str, view: LaneView, argument: Any) -> CommandPlan:  # noqa: ARG002
        """What a lane's own verb would do."""
        raise CommandUnfit(view.tail.lane, verb, "this kind of lane does not know it")

    def lane_word(self, verb: str, argument: Any) -> str:  # noqa: ARG002
        """The argument of a lane's own verb, as its machine reads it."""
        return ""

    # Nodes and readiness.

    def chains(self) -> Mapping[str, Any]:
        """The chains of this process by the names of their checks."""
        return {}

    def chain(self, lane: LaneId) -> object:  # noqa: ARG002
        """The chain that a lane works on; None if it is not configured."""
        return None

    def node_check(self, name: str, look: Outlook) -> Check:
        """Whether a chain has a node that answers."""
        return look.check(name, f"{look.count} of {look.count} nodes answer")

    async def checks(self) -> Sequence[Check]:
        """What readiness is asked of its chains, beside how their nodes stand."""
        return ()

    def notices(self) -> Sequence[Check]:
        """What a person should know, though traffic may come: read from memory."""
        return ()

    def metered(self, meter: Any) -> None:
        """Its metrics, once there is an engine to read them from."""

    async def measure(self, meter: Any) -> None:
        """Read from the store what its metrics show, for one scrape."""

    async def rehearse(self) -> None:
        """Raise what a start would refuse before it asks anyone over the network."""

    def files(self) -> Sequence[str]:
        """Its own files beside the database, which nobody else should read."""
        return ()

    def greeting(self, server: str) -> Sequence[str]:  # noqa: ARG002
        """What `laneway up` says of it at its start."""
        return ()

    # Lanes that a bug stopped.

    halts_aside: ClassVar[bool] = False
    """Whether its lane halts over an intent that is put aside and may have had its effect."""

    def aside(self, intent: IntentId) -> str:
        """What becomes of an intent that stopped its lane, once that is revived."""
        return f"takes {intent} back as far as it can be, and goes on"

    # What its routes ask.

    def part(self, operator: "Operator") -> Any:  # noqa: ARG002
        """The object that its own routes ask, over REST."""
        return self


class Operator(Struct, frozen=True):
    """What carries out an operator's commands, and keeps who gave them."""

    following: LaneFollowing
    trail: Audit
    revival: Revival


def raised(handle: Handle) -> Handle:
    """The handle of what was accepted; otherwise its refusal is raised."""
    if handle.refusal is not None:
        raise handle.refusal
    return handle


S = TypeVar("S", bound=Served)


class Calls:
    """What the library's short forms of one kind ask of the running engine."""

    def kind(self, name: str) -> Served:
        """LaneNotFound where this process serves no such kind."""
        raise NotImplementedError

    def _served(self, kind: type[S]) -> S:
        found = self.kind(kind.name)
        assert isinstance(found, kind)
        return found

    async def kind_of(self, intent: str) -> Served:
        """The kind of lane that an intent is in; IntentNotFound."""
        raise NotImplementedError

    async def command(
        self, intent: str, verb: str, argument: Any = None, *, reason: str = "", by: str = ""
    ) -> None:
        """A command about one intent; durable when it returns."""
        raise NotImplementedError

    async def command_lane(
        self, lane: str, verb: str, argument: Any = None, *, reason: str = "", by: str = ""
    ) -> None:
        """A command to a lane; durable when it returns."""
        raise NotImplementedError
