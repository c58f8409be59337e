"""One state of a small scope, and every step that could be the next.

The reactor, the machine, the book and the chain are the real ones; only the shell's part, who
carries messages between them, is played by hand.
"""

from typing import assert_never

import msgspec
from tests.small_scope.choices import FAULTS, Budget, ScopeChoice, ScopeWord
from tests.small_scope.ledgers import Ledger, is_recorded
from tests.small_scope.likeness import ScopeForm, encode
from tests.small_scope.messages import (
    Abroad,
    Asking,
    Claiming,
    CommitWritten,
    Doubted,
    Entered,
    HostAnswer,
    Leaving,
    Loaded,
    Loading,
    Pump,
    Releasing,
    Running,
    ScopePage,
    Travelling,
    Writing,
)
from tests.small_scope.parts import LANE, Mail, Part
from tests.small_scope.rounds import Chain, expired
from tests.small_scope.setting import Scope
from tests.small_scope.turns import Turn

from laneway.core.ids import IntentId, Owner
from laneway.core.rows import Head
from laneway.devnets.contract.model import RequestFault
from laneway.engine.contract import declined
from laneway.engine.reactor import Reactor
from laneway.lanes.contract.values import Execute
from laneway.sim.world import LawBroken

replace = msgspec.structs.replace

BEGIN_MS = 1_000


def start(scope: Scope, budget: Budget) -> "State":
    """Nothing was submitted, and the first process has just started."""
    state = State()
    state.scope = scope
    state.ledger = scope.ledgers.empty()
    state.chain = scope.rounds.empty()
    state.mail = state.untold = ()
    state.submitted = state.life = 0
    state.now_ms = BEGIN_MS
    state.budget = budget
    state._boot()
    return state


class State:
    """Nothing in it changes once `take` has answered with it; states share all they can."""

    __slots__ = (
        "budget",
        "chain",
        "ledger",
        "life",
        "mail",
        "now_ms",
        "reactor",
        "scope",
        "submitted",
        "untold",
    )

    scope: Scope
    reactor: Part[Reactor]
    ledger: Ledger
    chain: Chain
    mail: tuple[Mail, ...]
    """Everything under way."""
    submitted: int
    untold: tuple[IntentId, ...]
    """What this process made final and has not told its callers."""
    life: int
    """The processes so far."""
    now_ms: int
    budget: Budget

    def head(self) -> Head:
        shelf = self.ledger.value.shelves.get(LANE)
        return Head(LANE) if shelf is None else shelf.head

    def key(self) -> bytes:
        """Equal for states that must act alike, and for no others."""
        head, number = self.head(), self.scope.parts.number
        place = (self.now_ms, head.version, head.fence)
        reactor = self.reactor.forms.get(place)
        if reactor is None:
            reactor = number(ScopeForm(*place).reactor(self.reactor.value))
            self.reactor.forms[place] = reactor
        ledger = self.ledger.forms.get(place)
        if ledger is None:
            ledger = number(ScopeForm(*place).book(self.ledger.value, LANE))
            self.ledger.forms[place] = ledger
        chain = self.chain.forms.get(0)
        if chain is None:
            chain = self.chain.forms[0] = number(self.chain.value.data())
        mail = []
        for each in self.mail:
            form = each.forms.get(place)
            if form is None:
                message = each.value
                form = number((type(message).__name__, ScopeForm(*place)(message)))
                each.forms[place] = form
            mail.append(form)
        mail.sort()
        return encode((reactor, ledger, chain, mail, self.submitted, self.untold, self.budget))

    # What may come next.

    def choices(self) -> list[ScopeChoice]:
        """Every possible next step: first what happens by itself, then what goes wrong."""
        budget = self.budget
        moves: list[ScopeChoice] = []
        wrongs: list[ScopeChoice] = []
        for mail in dict.fromkeys(self.mail):
            moves.append(ScopeChoice(ScopeWord.DELIVER, mail))
            message = mail.value
            if isinstance(message, Writing) and budget.lost:
                wrongs += (
                    ScopeChoice(ScopeWord.UNANSWERED, mail),
                    ScopeChoice(ScopeWord.UNWRITTEN, mail),
                )
            elif isinstance(message, Travelling) and budget.faults:
                wrongs += (ScopeChoice(ScopeWord.FAULT, mail, fault) for fault in FAULTS)
            elif isinstance(message, Running) and budget.faults and message.heard and message.told:
                wrongs.append(ScopeChoice(ScopeWord.ANSWER_LOST, mail))
        moves += (ScopeChoice(ScopeWord.EXPIRE, mail) for mail in self._expired())
        if self.submitted < len(self.scope.arrivals):
            moves.append(ScopeChoice(ScopeWord.SUBMIT))
        if self.reactor.value.next_ms() is not None:
            if not moves:
                moves.append(ScopeChoice(ScopeWord.TIMER))
            elif budget.early:
                wrongs.append(ScopeChoice(ScopeWord.EARLY))
        if budget.crashes:
            wrongs.append(ScopeChoice(ScopeWord.CRASH))
        return moves + wrongs

    def _expired(self) -> list[Mail]:
        """One message for each execution whose caller has waited long enough."""
        waiting: dict[Execute, Mail] = {}
        for mail in self.mail:
            message = mail.value
            if (
                isinstance(message, Abroad)
                and message.heard
                and message.effect.deadline_ms <= self.now_ms
            ):
                waiting[message.effect] = mail
        return list(waiting.values())

    # What comes of it.

    def take(self, choice: ScopeChoice) -> "State":
        """The state behind a choice; `LawBroken` if the step itself breaks one."""
        state = self._split()
        mail = choice.mail
        match choice.word:
            case ScopeWord.DELIVER:
                assert mail is not None
                state._drop(mail)
                state._deliver(mail)
            case ScopeWord.SUBMIT:
                state._submit()
            case ScopeWord.TIMER:
                state._pass_time()
            case ScopeWord.EXPIRE:
                assert mail is not None
                state._expire(mail)
            case ScopeWord.CRASH:
                state.budget = replace(self.budget, crashes=self.budget.crashes - 1)
                state._crash()
            case ScopeWord.EARLY:
                state.budget = replace(self.budget, early=self.budget.early - 1)
                state._pass_time()
            case ScopeWord.UNANSWERED | ScopeWord.UNWRITTEN:
                assert mail is not None
                state.budget = replace(self.budget, lost=self.budget.lost - 1)
                state._drop(mail)
                state._doubt(mail, written=choice.word is ScopeWord.UNANSWERED)
            case ScopeWord.FAULT | ScopeWord.ANSWER_LOST:
                assert mail is not None
                state.budget = replace(self.budget, faults=self.budget.faults - 1)
                state._drop(mail)
                if choice.word is ScopeWord.FAULT:
                    state._arrive(mail, choice.fault)
                else:
                    state.chain, _ = state.scope.rounds.end(state.chain, mail)
            case _:
                assert_never(choice.word)
        return state

    def _split(self) -> "State":
        state = State()
        state.scope = self.scope
        state.reactor = self.reactor
        state.ledger = self.ledger
        state.chain = self.chain
        state.mail = self.mail
        state.submitted = self.submitted
        state.untold = self.untold
        state.life = self.life
        state.now_ms = self.now_ms
        state.budget = self.budget
        return state

    def _drop(self, mail: Mail) -> None:
        place = self.mail.index(mail)
        self.mail = self.mail[:place] + self.mail[place + 1 :]

    def _deliver(self, mail: Mail) -> None:
        scope, message = self.scope, mail.value
        match message:
            case Entered() | Loaded() | ScopePage() | CommitWritten() | Doubted() | HostAnswer():
                self._tell(mail)
            case Leaving():
                self._leave(mail, message)
            case Travelling():
                self._arrive(mail, RequestFault.NONE)
            case Running():
                self.chain, answers = scope.rounds.end(self.chain, mail)
                self.mail += answers
            case Writing():
                self.mail += (self._write(message, mail),)
            case Asking():
                self.mail += (scope.ledgers.read(self.ledger, mail),)
            case Pump():
                self._turn(scope.turns.pump(self.reactor, self.now_ms))
            case Claiming():
                owner = self.reactor.value.owner
                self.ledger, loading = scope.ledgers.claim(self.ledger, owner, self.now_ms)
                self.mail += (loading,)
            case Loading():
                # Nobody writes a lane between its claim and its load, so they are read at once.
                self._tell(scope.ledgers.read(self.ledger, mail))
            case Releasing():
                self.ledger = scope.ledgers.release(self.ledger, mail)
            case _:
                assert_never(message)

    # The client, the process and its clock.

    def _submit(self) -> None:
        each = self.scope.arrivals[self.submitted]
        self.submitted += 1
        self.ledger, entered = self.scope.ledgers.accept(self.ledger, each)
        self.mail += (entered,)

    def _tell(self, mail: Mail) -> None:
        self._turn(self.scope.turns.tell(self.reactor, mail, self.now_ms))

    def _turn(self, turn: Turn) -> None:
        self.reactor = turn.reactor
        pump = self.scope.turns.pump_mail
        if turn.mail != (pump,) or pump not in self.mail:
            self.mail += turn.mail
        for result in turn.results:
            if self.ledger.value.results.get(result.intent) != result:
                raise LawBroken(f"nothing is told before it is durable: {result}")
            if result.intent not in self.untold:
                raise LawBroken(f"told once: {result.intent} is told again")
            self.untold = tuple(intent for intent in self.untold if intent != result.intent)

    def _pass_time(self) -> None:
        next_ms = self.reactor.value.next_ms()
        assert next_ms is not None
        self.now_ms = max(self.now_ms, next_ms)
        self._turn(self.scope.turns.pump(self.reactor, self.now_ms))

    def _boot(self) -> None:
        self.life += 1
        owner = Owner(f"p{self.life}")
        self._turn(self.scope.turns.boot(self.ledger, owner, self.now_ms))

    def _crash(self) -> None:
        """What has left for the host goes on; nobody waits for its answer any more."""
        abroad = [each for each in self.mail if isinstance(each.value, Abroad)]
        self.mail = tuple(map(self._unheard, abroad))
        self.untold = ()
        self._boot()

    def _unheard(self, mail: Mail) -> Mail:
        assert isinstance(mail.value, Abroad)
        return self.scope.parts.mail(replace(mail.value, heard=False))

    def _doubt(self, mail: Mail, *, written: bool) -> None:
        message = mail.value
        assert isinstance(message, Writing)
        if written:
            self._write(message, mail)
        self.mail += (self.scope.parts.mail(Doubted(message.commit.lease)),)

    def _write(self, writing: Writing, mail: Mail) -> Mail:
        self.ledger, written = self.scope.ledgers.commit(self.ledger, mail)
        if written.value != CommitWritten(writing.commit.lease, None):
            self.untold += tuple(result.intent for result in writing.commit.write.results())
        return written

    # The performer, and the host that it speaks with.

    def _leave(self, mail: Mail, leaving: Leaving) -> None:
        effect, declines = leaving.effect, ""
        if not self.reactor.value.owns(LANE, leaving.fence):
            declines = "not sent: the lane was given up before its turn came"
        elif isinstance(effect, Execute) and effect.deadline_ms <= self.now_ms:
            declines = "not sent: its deadline had passed"
        if declines:
            self.mail += (self.scope.parts.mail(HostAnswer(declined(effect, 0, declines))),)
        elif not isinstance(effect, Execute):
            self.mail += (self.scope.rounds.look(self.chain, mail),)
        elif is_recorded(self.ledger.value, effect):
            self.mail += (self.scope.parts.mail(Travelling(effect)),)
        else:
            tried = f"try {effect.attempt} of slot {effect.slot}"
            raise LawBroken(f"nothing leaves unrecorded: {tried} is not in the store")

    def _arrive(self, mail: Mail, fault: RequestFault) -> None:
        self.chain, running = self.scope.rounds.begin(self.chain, mail, fault)
        self.mail += running

    def _expire(self, mail: Mail) -> None:
        """The performer waits no longer, and says so; what still runs goes on unheard."""
        assert isinstance(mail.value, Abroad)
        effect = mail.value.effect
        self.mail = tuple(
            self._unheard(each)
            if isinstance(each.value, Abroad) and each.value.effect == effect
            else each
            for each in self.mail
        )
        self._tell(self.scope.parts.mail(HostAnswer(expired(effect))))
