"""The laws of a small scope: in every state, where nothing moves any more, and in a ring."""

from tests.small_scope.ledgers import alike, told
from tests.small_scope.parts import LANE
from tests.small_scope.state import State

from laneway.core.outcome import Status
from laneway.core.rows import Lease
from laneway.sim.world import LawBroken


def check_state(state: State) -> None:
    """What must hold in every state. What was found of a part, or of two, is not asked again."""
    state.chain.step("laws", lambda: check_chain(state))
    state.ledger.step(state.chain, lambda: check_results(state))
    state.reactor.step(state.ledger, lambda: check_memory(state))


def check_chain(state: State) -> bool:
    """Nothing twice, and everything in the order in which it was accepted."""
    data = state.chain.value.data()
    if len(set(data)) != len(data):
        raise LawBroken(f"never twice: the chain has {data}")
    wanted = [datum for datum in state.scope.wanted if not datum.startswith("!")]
    if data != wanted[: len(data)]:
        raise LawBroken(f"in order: the chain has {data}, wanted are {wanted}")
    return True


def check_results(state: State) -> bool:
    """What is confirmed is on the chain, where it is said to be."""
    blocks = {state.scope.wanted[d]: n for n, d in enumerate(state.chain.value.data(), 1)}
    for result in state.ledger.value.results.values():
        if result.status != Status.CONFIRMED.value:
            continue
        block = blocks.get(result.intent)
        if block is None or result.number not in (None, block):
            raise LawBroken(f"{result.intent} is confirmed in {result.number}, on chain: {block}")
    return True


def check_memory(state: State) -> bool:
    """What the store holds equals what the lane is in memory, once it is committed."""
    reactor, fence = state.reactor.value, state.head().fence
    if reactor.is_settled(LANE) and reactor.owns(LANE, fence):
        rows = state.ledger.value.load(Lease(LANE, reactor.owner, fence))
        kept, memory = state.scope.kind.restore(rows), reactor.lane(LANE)
        if not alike(kept, memory):
            raise LawBroken(f"the store holds {told(kept)}, memory {told(memory)}")
    return True


def check_end(state: State) -> None:
    """Nothing moves any more: every intent has its final answer."""
    waiting = waits(state)
    if waiting:
        raise LawBroken(f"never lost: nothing moves any more, and {waiting} have no answer")
    check_account(state)


def check_ring(state: State) -> None:
    """A lane may come back to where it was only while it is halted, with its reason, and looks.

    That is where nobody can tell what became of an execution: the host picks the parent itself,
    or refuses for good what an earlier try may still bring.
    """
    lane = state.scope.kind.describe(state.head().state)
    waiting = waits(state)
    doubtful = not state.scope.settings.takes_parent or waiting[:1] == ["!d2"]
    if lane.word != "halted" or not lane.reason or not doubtful:
        raise LawBroken(f"no spinning: the lane is {lane.word} and comes back to where it was")
    check_account(state)


def waits(state: State) -> list[str]:
    results = state.ledger.value.results
    return [datum for datum, intent in state.scope.wanted.items() if intent not in results]


def check_account(state: State) -> None:
    """Every answer was told and is true: what is confirmed, and nothing else, is on the chain."""
    if state.untold:
        raise LawBroken(f"never lost: nobody was told of {state.untold}")
    data = state.chain.value.data()
    for datum, intent in state.scope.wanted.items():
        result = state.ledger.value.results.get(intent)
        status = None if result is None else result.status
        if (status == Status.CONFIRMED.value) != (datum in data):
            raise LawBroken(f"{datum} is {status}, and on the chain is {data}")
        if status not in (None, Status.CONFIRMED.value) and not datum.startswith("!"):
            raise LawBroken(f"{datum} is {status}, and nothing refuses it")
