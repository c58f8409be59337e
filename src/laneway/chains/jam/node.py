"""A node of a JAM chain: which chain it serves, and what it can be asked.

JIP-2 names no chain, so nodes are distinguished by the chain's sizes, and by its first block where
the operator names that. One that serves another chain is never used.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from statistics import mode
from typing import Any, TypeVar

from msgspec.structs import replace

from laneway.chains.endpoint import NodeEndpoint, NodePlace, name_of
from laneway.chains.jam.limits import (
    HEDGE_MS_MAX,
    HEDGE_MS_MIN,
    HEDGE_PER_SLOT,
    NODE_BEHIND_SLOTS,
    READ_MS_MIN,
    READ_SLOTS,
    SUBSCRIBE_MS,
    TURN_MS_MAX,
    TURN_MS_MIN,
    TURN_SLOTS,
)
from laneway.chains.jam.parameters import parameters_of
from laneway.chains.jam.phrases import JamPhrases, Row
from laneway.chains.jam.shapes import read_as, read_descriptor, read_sizes
from laneway.chains.limits import NODE_READ_MS
from laneway.chains.race import Patience
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.jam import JamBlockRef, PackageKind, Parameters
from laneway.wire.jip2 import BLOCK_UNAVAILABLE, call, hash_in, leaving
from laneway.wire.jsonrpc import RpcAnswer, RpcCall, RpcError, WritePermit
from laneway.wire.limits import RETRY_AFTER_S_DEFAULT
from laneway.wire.rpc_connection import NodeSubscription
from laneway.wire.rpc_socket import RpcSocket

T = TypeVar("T")

SCHEMES = ("ws", "wss")


class JamPlace(NodePlace, frozen=True):
    client: str = ""
    """The client whose error messages it sends; without one all are tried, since no node says."""
    takes_packages: bool = True
    """False for a node that is only read from; PolkaJam's validators refuse every package."""


class Identity:
    """What all nodes of one chain have in common: what most of those say that answered, and of two
    who differ the first."""

    def __init__(self, genesis: bytes | None, slot_ms: int | None) -> None:
        self.genesis = genesis
        self.parameters: Parameters | None = None
        self.newest_slot = 0
        """Of the newest block that nodes agreed on last."""
        self._slot_ms = slot_ms
        self._named: dict[str, dict[str, int]] = {}
        """By node, as it named them first: what answers at its address may be of another chain
        later. Nodes may name more or fewer sizes, but no other values."""
        self._agreed: dict[str, int] = {}
        self._judged: dict[str, tuple[dict[str, int], str | None]] = {}
        """By node, what it named last, and the problem with it at that time."""

    def problem_with(self, node: str, sizes: dict[str, int]) -> str | None:
        self._named[node] = {**sizes, **self._named.get(node, {})}
        for name in dict.fromkeys(one for named in self._named.values() for one in named):
            # Of values that as many name the first one is taken.
            self._agreed[name] = mode([one[name] for one in self._named.values() if name in one])
        found = parameters_of(self._agreed)
        self.parameters = replace(found, slot_ms=self._slot_ms or found.slot_ms)
        problem = self._problem(sizes)
        self._judged[node] = sizes, problem
        return problem

    def misjudged(self) -> list[str]:
        """Nodes that were judged before others had answered, and would be judged otherwise now."""
        return [
            node
            for node, (sizes, problem) in self._judged.items()
            if (problem is None) != (self._problem(sizes) is None)
        ]

    def _problem(self, sizes: dict[str, int]) -> str | None:
        for name, size in sizes.items():
            if size != self._agreed[name]:
                known = self._agreed[name]
                return f"answers for a chain whose {name} is {size}, and this one's is {known}"
        return None

    def patience(self) -> Patience:
        """How long nodes of this chain are waited for."""
        if self.parameters is not None:
            return patience_of(self.parameters.slot_ms)
        return patience_of(self._slot_ms or parameters_of({}).slot_ms)


def patience_of(slot_ms: int) -> Patience:
    """How long nodes are waited for, by the length of the chain's slots."""
    turn_ms = min(TURN_MS_MAX, max(TURN_MS_MIN, TURN_SLOTS * slot_ms))
    hedge_ms = min(HEDGE_MS_MAX, max(HEDGE_MS_MIN, slot_ms // HEDGE_PER_SLOT))
    read_ms = min(NODE_READ_MS, max(READ_MS_MIN, READ_SLOTS * slot_ms))
    return Patience(turn_s=turn_ms / 1000, hedge_s=hedge_ms / 1000, silent_ms=read_ms)


class NodeLacksBlock(ChainUnreadable):
    """A block that the node has not, or not any more."""

    code = "block_unavailable"

    def __init__(self, node: str, block: bytes, about: bytes | None) -> None:
        self.block = block
        self.about = about
        """Which block it is, where the node says so: perhaps another than was asked for."""
        super().__init__(node, f"block {block.hex()} is unavailable")


class JamNode(NodeEndpoint):
    def __init__(self, place: JamPlace, identity: Identity, overrides: Sequence[Row] = ()) -> None:
        name = place.name or name_of(place.url, SCHEMES, "ws://127.0.0.1:19800")
        super().__init__(replace(place, name=name))
        self.place = place
        self.socket = RpcSocket(place.url, name=name, headers=place.headers)
        self.client = self.socket
        self.words = JamPhrases(place.client, overrides)
        self.best: JamBlockRef | None = None
        self.finalised: JamBlockRef | None = None
        """Its last answers, whatever they are worth."""
        self.has_status = True
        """Whether it answers workPackageStatus; asked anew whenever it names its chain."""
        self.has_state_value = True
        """Whether it answers stateValue, in a form that is known here."""
        self._identity = identity

    def kind(self, error: RpcError) -> PackageKind:
        kind = self.words.kind(error.code, error.message)
        if kind is PackageKind.RATE_LIMITED:
            self.rest_busy(RETRY_AFTER_S_DEFAULT)
        return kind

    def is_unsupported(self, error: RpcError) -> bool:
        return self.kind(error) is PackageKind.UNSUPPORTED

    async def ask(self, calls: Sequence[RpcCall], timeout_ms: int | None = None) -> list[RpcAnswer]:
        """`timeout_ms` is by the chain's slots where nobody says otherwise."""
        return await super().ask(calls, timeout_ms or self._read_ms())

    async def offer(self, call: RpcCall, timeout_ms: int, permit: WritePermit) -> RpcAnswer:
        """The answer to a call that is written only if it still may be: nothing else is awaited
        between that question and the writing. `prepare` comes before it."""
        (answer,) = await self._asked(1, self.socket.ask([call], timeout_ms, permit))
        return answer

    async def read(self, reader: Callable[[Any], T], method: str, *parameters: object) -> T:
        """One result in its shape; NodeLacksBlock, or ChainUnreadable for any other refusal."""
        (answer,) = await self.ask([call(method, *parameters)])
        if isinstance(answer, RpcError) and answer.code == BLOCK_UNAVAILABLE:
            block = parameters[0] if parameters and isinstance(parameters[0], bytes) else b""
            raise NodeLacksBlock(self.name, block, hash_in(answer))
        return read_as(self.name, answer, reader)

    async def subscribe(self, method: str, *parameters: object) -> NodeSubscription | None:
        """None if it takes no more of them, or none of this kind."""
        await self.prepare(1)
        opened = await self.socket.subscribe(
            call(method, *parameters), leaving(method), min(SUBSCRIBE_MS, self._read_ms())
        )
        if isinstance(opened, NodeSubscription):
            return opened
        if self.kind(opened) is PackageKind.TOO_MANY_SUBSCRIPTIONS:
            self.socket.subscriptions_max = max(self.socket.held_count, 1)
        return None

    async def probe(self, timeout_ms: int, heard_ms: int) -> None:
        """Sizes are no proof that a node is of use: an empty table of them can be read too."""
        before_s = self.standing.heard_s
        await super().probe(timeout_ms, heard_ms)
        if self.standing.heard_s == before_s:
            return
        with suppress(ChainError):  # Noted where it was raised.
            (answer,) = await self.ask([call("bestBlock")], timeout_ms)
            self.read_best(answer)

    def read_best(self, answer: RpcAnswer) -> JamBlockRef:
        """Its best block. A node that has none to name is named itself, and asked after the
        others, until it has one; one whose block is old is named too, for nothing else says it."""
        found = self._read_useful(answer, read_descriptor)
        self.standing.fit()
        is_behind = self._identity.newest_slot - found.slot > NODE_BEHIND_SLOTS
        what = f"stands at slot {found.slot} while others go on; see whether it syncs"
        self.standing.behind(what if is_behind else "")
        return found

    def is_useless(self) -> bool:
        """Whether it answered lately, and nothing of use: it is not asked for its head meanwhile,
        since nonsense may be long and take longer to read than what the others say."""
        return self.standing.is_unfit and self.is_resting()

    def submit_ms(self) -> int:
        """The time of one package for one core."""
        return self._read_ms()

    def hedge_s(self) -> float:
        """The time after which another node is asked too."""
        return self._identity.patience().hedge_s or 0.0

    def _read_useful(self, answer: RpcAnswer, reader: Callable[[Any], T]) -> T:
        """What every node of a chain can say: its sizes, its best block."""
        try:
            return read_as(self.name, answer, reader)
        except ChainUnreadable as error:
            self.rest_unfit(error)
            raise

    def _read_ms(self) -> int:
        return self._identity.patience().silent_ms

    async def _hear_chain(self) -> str | None:
        genesis = self._identity.genesis
        calls = [call("parameters")]
        if genesis is not None:
            calls.append(call("stateRoot", genesis))
        parameters, *rest = await self.ask_prepared(calls, self._read_ms())
        sizes = self._read_useful(parameters, read_sizes)
        if any(isinstance(one, RpcError) for one in rest):
            return f"does not know the chain's first block 0x{(genesis or b'').hex()}"
        # One no may have been a gateway's, or an older release's at the same address.
        self.has_status = True
        return self._identity.problem_with(self.name, sizes)
