"""Steps of the host: the chain's model, and how its answers read to the engine's performer."""

from functools import partial
from heapq import heapify
from typing import TypeAlias, assert_never

from tests.small_scope.copies import copied
from tests.small_scope.messages import HostAnswer, Leaving, Message, Running, Travelling
from tests.small_scope.parts import CONTRACT, Mail, Part, ScopeParts, decode_call

from laneway.core.outcome import Outcome
from laneway.devnets.contract.model import ContractChain, RequestFault, RoundEnded
from laneway.lanes.contract.values import (
    Event,
    Execute,
    ExecutionReturned,
    FindExecution,
    HeightRead,
    ReadHeight,
    SearchReturned,
)
from laneway.sim.contract.world import refuses


class OpenChain(ContractChain):
    """The chain model, but any running round may be the next to end."""

    def end(self, round_: int) -> RoundEnded:
        place = next(i for i, entry in enumerate(self._rounds) if entry[1] == round_)
        _, number, running = self._rounds.pop(place)
        heapify(self._rounds)
        return self._end(running, number, 0)

    def begun(self, round_: int) -> tuple[int, bool, bool]:
        """A running round's parent, whether its consensus will die, and whether its end is told."""
        running = next(entry[2] for entry in self._rounds if entry[1] == round_)
        return running.parent, running.crashes, running.is_answered

    def data(self) -> list[str]:
        """What was executed, in order."""
        return [block.data for block in self.history(CONTRACT)[1:]]


Chain: TypeAlias = Part[OpenChain]
Ended: TypeAlias = tuple[Chain, tuple[Mail, ...]]
"""The chain behind a step, and the messages that come of it."""


class ScopeRounds:
    """Steps of the chain, each made once."""

    def __init__(self, parts: ScopeParts, *, takes_parent: bool) -> None:
        self._parts = parts
        self._takes_parent = takes_parent

    def empty(self) -> Chain:
        return self._parts.keep(OpenChain(refuses=refuses))

    def begin(self, chain: Chain, mail: Mail, fault: RequestFault) -> Ended:
        """An execution arrives, and its rounds begin."""
        return chain.step((mail, fault), lambda: self._begin(chain, mail.value, fault))

    def _begin(self, chain: Chain, message: Message, fault: RequestFault) -> Ended:
        assert isinstance(message, Travelling)
        effect = message.effect
        model: OpenChain = copied(chain.value)
        parent = effect.parent if self._takes_parent else None
        begun = model.begin(decode_call(effect.payload), parent, 0, fault)
        running = [Running(effect, message.heard, round_, *model.begun(round_)) for round_ in begun]
        return self._parts.keep(model), tuple(map(self._parts.mail, running))

    def end(self, chain: Chain, mail: Mail) -> Ended:
        """A round ends, and its caller may hear of it."""
        return chain.step(mail, lambda: self._end(chain, mail.value))

    def _end(self, chain: Chain, message: Message) -> Ended:
        assert isinstance(message, Running)
        model: OpenChain = copied(chain.value)
        end = model.end(message.round)
        if not (message.heard and end.is_answered):
            return self._parts.keep(model), ()
        answer = self._parts.mail(HostAnswer(returned(message.effect, end)))
        return self._parts.keep(model), (answer,)

    def look(self, chain: Chain, mail: Mail) -> Mail:
        """A question about the chain, answered as it stands now."""
        return chain.step(mail, lambda: self._parts.mail(self._look(chain.value, mail.value)))

    def _look(self, chain: OpenChain, message: Message) -> Message:
        assert isinstance(message, Leaving)
        latest = chain.latest(CONTRACT)
        match message.effect:
            case ReadHeight(slot=slot):
                return HostAnswer(HeightRead(0, slot, latest))
            case FindExecution(slot=slot, attempt=attempt, payload=payload, parent=parent):
                block = chain.find(decode_call(payload), parent, self._takes_parent)
                return HostAnswer(SearchReturned(0, slot, attempt, latest, block))
            case Execute() as effect:
                raise AssertionError(f"{effect} is no question")
            case _ as never:
                assert_never(never)


def returned(effect: Execute, end: RoundEnded) -> Event:
    """How the end of a round reads to its caller; the time is filled in when it arrives."""
    answer = partial(ExecutionReturned, 0, effect.slot, effect.attempt)
    if end.block is not None:
        return answer(Outcome.ACCEPTED, block=end.block)
    if end.conflict:
        return answer(Outcome.REFUSED, stale=True, reason="stale parent")
    if end.refused is not None:
        return answer(Outcome.REFUSED, final=True, reason=end.refused)
    return answer(Outcome.REFUSED, reason="the consensus failed")


def expired(effect: Execute) -> Event:
    """What the performer answers when it waits no longer."""
    reason = "no answer before its deadline"
    return ExecutionReturned(0, effect.slot, effect.attempt, Outcome.UNKNOWN, reason=reason)
