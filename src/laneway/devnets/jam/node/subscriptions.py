"""The topics that a connection may follow, and their notifications.

A subscription notifies of the value that there is when it is opened, and then of each other one. On
the best chain that follows the node's own view, from fork to fork: a package that was reported can
be reportable again. On the final chain nothing is taken back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct, to_builtins

from laneway.devnets.jam.limits import SUBSCRIPTIONS_COUNT_MAX
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import Descriptor, NotHeld
from laneway.devnets.jam.node.caller import JamCaller
from laneway.devnets.jam.node.methods import OF_STATE, Reading, of_model, sync_status
from laneway.devnets.jam.node.parameters import TOO_MANY_SUBSCRIPTIONS, flag, number
from laneway.wire.rpc_server.methods import Json, Kind, Method, RpcRefused

Values: TypeAlias = Sequence[Any]
"""The parameters that a subscription was opened with."""
News: TypeAlias = tuple[object, object]
"""A value, which is compared with that of the last notification, and the result to notify of."""


class Topic(Struct, frozen=True):
    """Something that changes as the chain goes on, or as the node is better off."""

    kinds: tuple[Kind, ...]
    read: Callable[..., News]
    """Reads the present value, for a caller and the parameters."""
    seen: Callable[[JamCaller, Values], object]
    """Reads what the value depends on: while that is the same there is no news."""


class TopicSubscription:
    """One subscription of a connection."""

    def __init__(self, topic: Topic, values: Values) -> None:
        self._topic = topic
        self._values = values
        self._seen: object = None
        self._notified: object = self
        """The value of the last notification; nothing is equal to it before the first."""

    def news(self, caller: JamCaller) -> Json | None:
        seen = self._topic.seen(caller, self._values)
        if seen == self._seen:
            return None
        self._seen = seen
        try:
            value, result = self._topic.read(caller, *self._values)
            params = {"result": result}
        except NotHeld as problem:
            value, params = problem.args, {"error": str(problem)}
        if value == self._notified:
            return None
        self._notified = value
        return params


def head(caller: JamCaller, is_final: bool) -> Descriptor:
    return caller.model.finalized(caller.node) if is_final else caller.model.best(caller.node)


def of_node(read: Reading) -> Topic:
    """A topic without parameters; the value is the result."""
    return Topic((), lambda caller: (read(caller),) * 2, lambda caller, _: read(caller))


def of_state(name: str) -> Topic:
    kinds, reading = OF_STATE[name]

    def read(caller: JamCaller, *values: Any) -> News:
        *own, is_final = values
        at = head(caller, is_final)
        value = reading(caller, at.header_hash, *own)
        return value, {**to_builtins(at), "value": value}

    return Topic((*kinds, flag), read, lambda caller, values: head(caller, values[-1]))


SUBSCRIPTIONS: Final[Mapping[str, Topic]] = {
    "subscribeBestBlock": of_node(of_model(JamModel.best)),
    "subscribeFinalizedBlock": of_node(of_model(JamModel.finalized)),
    **{f"subscribe{name[0].upper()}{name[1:]}": of_state(name) for name in OF_STATE},
    "subscribeSyncStatus": of_node(sync_status),
}


def opening(name: str) -> Method:
    topic = SUBSCRIPTIONS[name]

    def follow(caller: JamCaller, *values: Any) -> int:
        if caller.open_count() >= SUBSCRIPTIONS_COUNT_MAX:
            problem = "Too many subscriptions on the connection"
            raise RpcRefused(TOO_MANY_SUBSCRIPTIONS, problem)
        topic.read(caller, *values)  # What cannot be followed is refused.
        return caller.follow(name, TopicSubscription(topic, values).news)

    return Method(topic.kinds, follow, needs_connection=True)


def leaving(name: str) -> Method:
    return Method(
        (number,), lambda caller, opened: caller.leave(name, opened), needs_connection=True
    )


SUBSCRIBING: Final[Mapping[str, Method]] = {
    **{name: opening(name) for name in SUBSCRIPTIONS},
    **{f"un{name}": leaving(name) for name in SUBSCRIPTIONS},
}
