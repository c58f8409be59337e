"""Every state of a small scope, by every order of its steps (ARCHITECTURE §8).

Three intents, one lane: every state that the real reactor, contract machine, memory store and
chain model can come to is entered once, and the laws are held against it. Possible next steps of
every state are the client's next submission, any message under way (they overtake one another),
the end of any running round, a performer that waits no longer, and whatever the budget still
allows to go wrong. Time passes only when nothing else can happen, or at the budget's cost.
What counts as one state is said in `scope.likeness`, what may go wrong in `scope.choices.Budget`.
"""

import gc
from collections.abc import Iterator

from msgspec import Struct
from tests.small_scope.choices import Budget, ScopeChoice, ScopeWord
from tests.small_scope.laws import check_end, check_ring, check_state
from tests.small_scope.limits import STATES_FULL_MAX, STATES_MAX
from tests.small_scope.setting import Scope
from tests.small_scope.state import State, start

from laneway.engine.run import Windows
from laneway.lanes.contract import ContractSettings
from laneway.sim.world import LawBroken

TINY = Windows(backlog_page=1, events_per_turn=1, idle_lanes=0)
"""Every page ends too early, every turn takes one event, and no idle lane is kept."""


class SearchTerms(Struct, frozen=True):
    """What a search is about."""

    takes_parent: bool
    """Which kind of host: one whose `execute` names the parent, or one that picks it."""
    crashes: int = 0
    lost: int = 0
    faults: int = 0
    early: int = 0
    intents: int = 3
    tiny: bool = False
    """The reactor's windows are tiny."""
    lazy: bool = False
    """The reactor's turn is a step of its own, so that several messages may share one turn."""
    refused: bool = False
    """The contract refuses the second intent."""

    def __str__(self) -> str:
        counts = [(getattr(self, name), name) for name in Budget.__struct_fields__]
        wrongs = [f"{count} {name}" for count, name in counts if count]
        words = [name for name in ("tiny", "lazy", "refused") if getattr(self, name)]
        host = "named parent" if self.takes_parent else "picked parent"
        return f"{self.intents} intents, {host}: {' + '.join(wrongs + words) or 'nothing'}"

    def _scope(self) -> Scope:
        numbers = range(1, self.intents + 1)
        data = tuple(f"!d{n}" if self.refused and n == 2 else f"d{n}" for n in numbers)
        windows = TINY if self.tiny else Windows()
        return Scope(settings(takes_parent=self.takes_parent), data, windows, lazy=self.lazy)

    def start(self) -> State:
        return start(self._scope(), Budget(self.crashes, self.lost, self.faults, self.early))


def settings(*, takes_parent: bool) -> ContractSettings:
    """Distances in time that differ, but soon repeat: each is a state of its own."""
    return ContractSettings(
        takes_parent=takes_parent,
        execution_ms_max=1_000,
        search_ms=600,
        retry_ms_min=100,
        retry_ms_max=400,
        breaker_failures=3,
        breaker_open_ms=2_000,
    )


SCOPES = tuple(
    terms
    for parent in (True, False)
    for terms in (
        SearchTerms(parent, crashes=1, lost=1),
        SearchTerms(parent, crashes=1, faults=1),
        SearchTerms(parent, lost=1, faults=1),
        SearchTerms(parent, crashes=1, early=1),
        SearchTerms(parent, lost=1, early=1, intents=2),
        SearchTerms(parent, faults=1, early=1, intents=2),
        SearchTerms(parent, crashes=1, lost=1, faults=1, intents=2),
        SearchTerms(parent, crashes=1, lost=1, intents=2, tiny=True),
        SearchTerms(parent, crashes=1, lazy=True),
        SearchTerms(parent, crashes=1, faults=1, refused=True),
    )
)
"""What `make test` walks, in half a minute: any two things of different kinds go wrong, each
anywhere. What takes longer with three intents is walked with two here, and with three in `FULL`."""

FULL = tuple(
    terms
    for parent in (True, False)
    for terms in (
        SearchTerms(parent, crashes=1, lost=1, faults=1),
        SearchTerms(parent, crashes=1, lost=1, early=1),
        SearchTerms(parent, crashes=1, faults=1, early=1),
        SearchTerms(parent, lost=1, faults=1, early=1),
        SearchTerms(parent, crashes=1, lost=1, faults=1, early=1, intents=2),
        SearchTerms(parent, crashes=2, lost=1),
        SearchTerms(parent, crashes=1, lost=1, faults=1, tiny=True),
        SearchTerms(parent, crashes=1, lost=1, faults=1, lazy=True),
        SearchTerms(parent, crashes=1, lost=1, faults=1, refused=True),
        SearchTerms(parent, crashes=1, faults=1, early=1, refused=True),
    )
)
"""What a soak walks besides, in a quarter of an hour: any three, and one scope with all four."""


class SearchResult(Struct, frozen=True):
    """What a search saw."""

    states: int
    transitions: int
    ends: int
    """States in which nothing moves any more."""
    broken: list[str] | None
    """The choices that lead to a broken law, and last the law; None when all held everywhere."""


def search(
    takes_parent: bool, crashes: int, lost: int, faults: int, early: int, intents: int = 3
) -> SearchResult:
    """Walk through every state of one scope, to its end or to the first broken law."""
    return explore(SearchTerms(takes_parent, crashes, lost, faults, early, intents))


def survey(*, full: bool = False) -> Iterator[tuple[SearchTerms, SearchResult]]:
    """Walk through every scope of a test, or of a soak."""
    for terms in (*SCOPES, *FULL) if full else SCOPES:
        yield terms, explore(terms, STATES_FULL_MAX if full else STATES_MAX)


def explore(terms: SearchTerms, states_max: int = STATES_MAX) -> SearchResult:
    walk = Walk(states_max)
    collecting = gc.isenabled()
    gc.disable()  # Nothing here refers to itself, and to look for such takes a third of the time.
    try:
        walk.run(terms.start())
        broken = None
    except LawBroken as law:
        broken = [*map(str, walk.path), f"BROKEN  {law}"]
    finally:
        if collecting:
            gc.enable()
    return SearchResult(len(walk.seen), walk.transitions, walk.ends, broken)


class Walk:
    """Depth first, so that a way back to a state that is still open is a ring."""

    def __init__(self, states_max: int) -> None:
        self.seen: set[bytes] = set()
        self.transitions = 0
        self.ends = 0
        self.path: list[ScopeChoice] = []
        """The choices that lead to where the walk is."""
        self._states_max = states_max
        self._open: list[tuple[State, bytes, list[ScopeChoice]]] = []
        self._open_keys: set[bytes] = set()

    def run(self, root: State) -> None:
        self._enter(root, root.key())
        while self._open:
            state, key, choices = self._open[-1]
            if not choices:
                self._open.pop()
                self._open_keys.remove(key)
                if self.path:
                    self.path.pop()
                continue
            choice = choices.pop()
            self.path.append(choice)
            self.transitions += 1
            behind = state.take(choice)
            behind_key = behind.key()
            if behind_key not in self.seen:
                self._enter(behind, behind_key)
                continue
            if behind_key in self._open_keys:
                check_ring(behind)
            self.path.pop()

    def _enter(self, state: State, key: bytes) -> None:
        self.seen.add(key)
        if len(self.seen) > self._states_max:
            raise LawBroken(f"no end: more than {self._states_max} states")
        check_state(state)
        choices = state.choices()
        if all(choice.word is ScopeWord.CRASH for choice in choices):
            self.ends += 1
            check_end(state)
        choices.reverse()
        self._open.append((state, key, choices))
        self._open_keys.add(key)
