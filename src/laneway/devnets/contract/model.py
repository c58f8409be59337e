"""Token chains and quorum rounds, stepped by their holder.

A round reads its parent when it begins and writes block parent + 1 when it ends, if the parent is
still the latest block; otherwise it ends as a conflict (the race of seed 004 §3).
Pure: time is an argument and faults are chosen by the caller. It sends no answer: `step` returns
how rounds ended and whether their callers are answered.
"""

from bisect import bisect_right
from collections.abc import Callable
from enum import Enum
from hashlib import sha256
from heapq import heappop, heappush
from operator import itemgetter

from msgspec import Struct, msgpack

from laneway.devnets.contract.limits import ROUND_MS, SLOW_FACTOR
from laneway.ports import ContractCall


class RequestFault(Enum):
    """The fault of one request."""

    NONE = "none"
    CRASH = "crash"
    """The consensus dies: nothing is written and nobody answers."""
    CRASH_TOLD = "crash_told"
    """The consensus fails and answers so: nothing is written."""
    SLOW = "slow"
    """The round takes `slow_factor` times as long."""
    LOST = "lost"
    """The block is written as usual, but the answer never comes."""
    DOUBLE = "double"
    """The request is delivered twice; the first delivery's end is the answer."""
    DOUBLE_SECOND_TOLD = "double_second_told"
    """The same, but the second end is the answer: a conflict although the first has landed."""


ANSWERED: dict[RequestFault, tuple[bool, ...]] = {
    RequestFault.NONE: (True,),
    RequestFault.CRASH: (False,),
    RequestFault.CRASH_TOLD: (True,),
    RequestFault.SLOW: (True,),
    RequestFault.LOST: (False,),
    RequestFault.DOUBLE: (True, False),
    RequestFault.DOUBLE_SECOND_TOLD: (False, True),
}
"""The rounds a request begins, and whether the end of each is answered."""

CRASHES = (RequestFault.CRASH, RequestFault.CRASH_TOLD)


class ContractBlock(Struct, frozen=True, gc=False):
    """One block of one token chain. `number` is always `parent` + 1, genesis being 0 on -1."""

    number: int
    parent: int
    contract: str
    executor: str
    data: str
    round: int
    """The round that wrote it; rounds are counted from 1, genesis has 0."""
    made_ms: int
    id: str
    """SHA-256 over all other fields and the parent's id, so that one id fixes the whole chain."""


class RoundEnded(Struct, frozen=True, gc=False):
    """How a round ended: exactly one of block, conflict, refused and failed holds."""

    round: int
    contract: str
    block: int | None = None
    conflict: bool = False
    """The parent was no longer the latest block; nothing was written."""
    refused: str | None = None
    """Why no retry can help; nothing was written."""
    failed: bool = False
    """The consensus died; nothing was written."""
    is_answered: bool = True
    """Whether the caller is answered."""


def refuse_nothing(call: ContractCall) -> str | None:  # noqa: ARG001  The default of `refuses`.
    return None


class ContractChain:
    """All token chains of one node. Genesis exists on demand, so every contract is deployed."""

    def __init__(
        self,
        *,
        round_ms: int = ROUND_MS,
        slow_factor: int = SLOW_FACTOR,
        refuses: Callable[[ContractCall], str | None] = refuse_nothing,
    ) -> None:
        self.round_ms = round_ms
        """Read whenever a round begins, so it may be changed between rounds."""
        self.slow_factor = slow_factor
        self.refuses = refuses
        self._tokens: dict[str, _Token] = {}
        self._rounds: list[tuple[int, int, _Round]] = []
        self._round_next = 1

    def restore(self, block: ContractBlock) -> bool:
        """Put back a block that was written before; False unless it is the very next one."""
        token = self._tokens.get(block.contract) or _Token(block.contract)
        call = ContractCall(block.contract, block.executor, block.data)
        if make_block(token.blocks[-1], call, block.round, block.made_ms) != block:
            return False
        self._tokens[block.contract] = token
        token.add(block)
        self._round_next = max(self._round_next, block.round + 1)
        return True

    def begin(
        self,
        call: ContractCall,
        parent: int | None,
        now_ms: int,
        fault: RequestFault = RequestFault.NONE,
    ) -> list[int]:
        """Begin the rounds of one request and name them, first delivery first.

        Without a parent each round builds on the block that is the latest now. Rounds that are
        due but not stepped yet count as running: step to `now_ms` first to see their blocks.
        """
        token = self._tokens.get(call.contract)
        if token is None:
            token = self._tokens[call.contract] = _Token(call.contract)
        if parent is None:
            parent = token.latest()
        factor = self.slow_factor if fault is RequestFault.SLOW else 1
        ends_ms = now_ms + self.round_ms * factor
        begun = []
        for answered in ANSWERED[fault]:
            number = self._round_next
            self._round_next = number + 1
            round_ = _Round(token, call, parent, fault in CRASHES, answered)
            heappush(self._rounds, (ends_ms, number, round_))
            token.running += 1
            begun.append(number)
        return begun

    def step(self, now_ms: int) -> list[RoundEnded]:
        """End all rounds that are due, in the order of (end, round)."""
        ended = []
        rounds = self._rounds
        while rounds and rounds[0][0] <= now_ms:
            ends_ms, number, round_ = heappop(rounds)
            ended.append(self._end(round_, number, ends_ms))
        return ended

    def restart(self, now_ms: int) -> list[RoundEnded]:
        """End what is due, then kill all running rounds: they write nothing and answer nobody."""
        ended = self.step(now_ms)
        killed = sorted(self._rounds, key=itemgetter(1))
        self._rounds.clear()
        for _, number, round_ in killed:
            round_.token.running -= 1
            ended.append(RoundEnded(number, round_.call.contract, failed=True, is_answered=False))
        return ended

    def next_ms(self) -> int | None:
        """When the next round ends."""
        return self._rounds[0][0] if self._rounds else None

    def latest(self, contract: str) -> int:
        token = self._tokens.get(contract)
        return 0 if token is None else token.latest()

    def history(self, contract: str) -> tuple[ContractBlock, ...]:
        """All blocks of one contract, from genesis."""
        token = self._tokens.get(contract)
        return (genesis(contract),) if token is None else tuple(token.blocks)

    def block(self, contract: str, number: int) -> ContractBlock:
        """One block that exists."""
        token = self._tokens.get(contract)
        return genesis(contract) if token is None else token.blocks[number]

    def find(self, call: ContractCall, parent: int, exact: bool) -> int | None:
        """The first block after the parent with this executor and data; exact: parent + 1 only."""
        token = self._tokens.get(call.contract)
        if token is None:
            return None
        numbers = token.numbers.get((call.executor, call.data), ())
        place = bisect_right(numbers, parent)
        if place == len(numbers) or (exact and numbers[place] != parent + 1):
            return None
        return numbers[place]

    def contracts(self) -> tuple[str, ...]:
        """The contracts that were ever executed, oldest first."""
        return tuple(self._tokens)

    def running(self, contract: str) -> int:
        """How many rounds of a contract run now."""
        token = self._tokens.get(contract)
        return 0 if token is None else token.running

    def _end(self, round_: "_Round", number: int, ends_ms: int) -> RoundEnded:
        token, call, answered = round_.token, round_.call, round_.is_answered
        token.running -= 1
        if round_.crashes:
            return RoundEnded(number, call.contract, failed=True, is_answered=answered)
        # The call itself is judged first: what no retry can change does not depend on the parent.
        refused = self.refuses(call)
        if refused is not None:
            return RoundEnded(number, call.contract, refused=refused, is_answered=answered)
        if round_.parent != token.latest():
            return RoundEnded(number, call.contract, conflict=True, is_answered=answered)
        block = make_block(token.blocks[-1], call, number, ends_ms)
        token.add(block)
        return RoundEnded(number, call.contract, block=block.number, is_answered=answered)


class _Token:
    """One token chain, with an index of who wrote what."""

    def __init__(self, contract: str) -> None:
        self.blocks = [genesis(contract)]
        self.numbers: dict[tuple[str, str], list[int]] = {}
        """Block numbers by (executor, data), rising. Genesis is nobody's execution."""
        self.running = 0

    def latest(self) -> int:
        return len(self.blocks) - 1

    def add(self, block: ContractBlock) -> None:
        self.blocks.append(block)
        self.numbers.setdefault((block.executor, block.data), []).append(block.number)


class _Round(Struct):
    token: _Token
    call: ContractCall
    parent: int
    crashes: bool
    is_answered: bool


def genesis(contract: str) -> ContractBlock:
    """Block 0 of a contract: the same wherever and whenever it is asked for."""
    return ContractBlock(0, -1, contract, "", "", 0, 0, _digest("", 0, contract, "", "", 0, 0))


def make_block(
    parent: ContractBlock, call: ContractCall, number: int, made_ms: int
) -> ContractBlock:
    height, contract, executor, data = parent.number + 1, parent.contract, call.executor, call.data
    digest = _digest(parent.id, height, contract, executor, data, number, made_ms)
    return ContractBlock(height, parent.number, contract, executor, data, number, made_ms, digest)


def _digest(*fields: str | int) -> str:
    # msgpack prefixes lengths, so two different blocks never share their bytes.
    return sha256(msgpack.encode(fields)).hexdigest()
