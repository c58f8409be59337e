"""What may be followed on a connection, and what there is to tell of it.

A subscription tells the value that there is when it is opened, and then each other one. On the best
chain that follows the node's own view, from fork to fork: a package that was reported can be
reportable again. On the final chain nothing is taken back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from laneway.devnets.jam import methods, shown
from laneway.devnets.jam.given import Method, flag
from laneway.devnets.jam.host import JamHost
from laneway.devnets.jam.methods import OF_STATE, Reading
from laneway.devnets.jam.shown import Json
from laneway.devnets.jam.values import Descriptor, Unavailable

Given: TypeAlias = Sequence[Any]


class News(Struct, frozen=True):
    value: object
    """What is compared with what was told before."""
    result: object
    """What is told."""


class Topic(Struct, frozen=True):
    """Something that changes as the chain goes on, or as the node is better off."""

    method: Method
    """It opens a subscription, and reads the news: of a host, a node, and what was given."""
    seen: Callable[[JamHost, int, Given], object]
    """What the news depend on: while it is the same there are none."""


class Subscription:
    """One of a connection's."""

    def __init__(self, name: str, given: Given) -> None:
        self.name = name
        self.topic = SUBSCRIPTIONS[name]
        self.given = given
        self.seen: object = None
        self.told: object = self
        """Nothing is equal to it as long as nothing was told."""

    def news(self, host: JamHost, node: int) -> Json | None:
        """What is to be told now, once: a result, or why there is none."""
        seen = self.topic.seen(host, node, self.given)
        if seen == self.seen:
            return None
        self.seen = seen
        told: Json
        try:
            found = self.topic.method.call(host, node, *self.given)
            assert isinstance(found, News)
            value, told = found.value, {"result": found.result}
        except Unavailable as problem:
            value, told = problem.args, {"error": str(problem)}
        if value == self.told:
            return None
        self.told = value
        return told


def head(host: JamHost, node: int, is_final: bool) -> Descriptor:
    return host.model.finalized(node) if is_final else host.model.best(node)


def of_head(*, is_final: bool) -> Topic:
    def news(host: JamHost, node: int) -> News:
        found = shown.descriptor(head(host, node, is_final))
        return News(found, found)

    def seen(host: JamHost, node: int, _given: Given) -> object:
        return head(host, node, is_final)

    return Topic(Method((), news), seen)


def of_state(name: str) -> Topic:
    kinds, reading = OF_STATE[name]
    return Topic(Method((*kinds, flag), state_news(reading)), state_seen)


def state_news(reading: Reading) -> Callable[..., News]:
    def news(host: JamHost, node: int, *given: Any) -> News:
        *own, is_final = given
        at = head(host, node, is_final)
        value = reading(host, node, at.header_hash, *own)
        return News(value, {**shown.descriptor(at), "value": value})

    return news


def state_seen(host: JamHost, node: int, given: Given) -> object:
    return head(host, node, given[-1])


def sync_news(host: JamHost, node: int) -> News:
    status = methods.sync_status(host, node)
    return News(status, status)


def sync_seen(host: JamHost, node: int, _given: Given) -> object:
    return methods.sync_status(host, node)


SUBSCRIPTIONS: Final[Mapping[str, Topic]] = {
    "subscribeBestBlock": of_head(is_final=False),
    "subscribeFinalizedBlock": of_head(is_final=True),
    **{f"subscribe{name[0].upper()}{name[1:]}": of_state(name) for name in OF_STATE},
    "subscribeSyncStatus": Topic(Method((), sync_news), sync_seen),
}


def left_by(method: str) -> str | None:
    """The method that opens what this one leaves; None where it leaves nothing."""
    opener = method.removeprefix("un")
    return opener if opener != method and opener in SUBSCRIPTIONS else None
