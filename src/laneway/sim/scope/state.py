"""One state of a small scope, and every step that could be the next.

The reactor, the machine, the book and the chain are the real ones; only the shell's part, who
carries messages between them, is played by hand.
"""

from enum import Enum
from hashlib import blake2b
from typing import assert_never

import msgspec
from msgspec import Struct

from laneway.core.ids import IntentId, Owner, intent_id
from laneway.core.intent import Arrival
from laneway.core.rows import Head
from laneway.devnets.contract.model import Fault
from laneway.engine.reactor import Reactor, Windows
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.values import Execute
from laneway.ports import ContractCall
from laneway.sim.scope.ledgers import Ledger, Ledgers, is_recorded
from laneway.sim.scope.likeness import Form, encode
from laneway.sim.scope.messages import (
    Answer,
    Asking,
    Claiming,
    Doubted,
    Entered,
    Leaving,
    Loaded,
    Loading,
    Page,
    Pump,
    Releasing,
    Running,
    Travelling,
    Writing,
    Written,
    describe,
)
from laneway.sim.scope.parts import CONTRACT, LANE, Mail, Part, Parts
from laneway.sim.scope.rounds import Chain, Rounds, declined, expired
from laneway.sim.scope.turns import Turn, Turns
from laneway.sim.world import LawBroken

replace = msgspec.structs.replace

FAULTS = (Fault.CRASH, Fault.CRASH_TOLD, Fault.LOST, Fault.DOUBLE_SECOND_TOLD)
"""What may go wrong with an execution at the host; that its answer is lost is a step of its own."""

BEGIN_MS = 1_000


class Budget(Struct, frozen=True, array_like=True):
    """How often each thing may still go wrong."""

    crashes: int = 0
    """The process dies, with all of its messages, and another starts."""
    lost: int = 0
    """The store does not say whether a commit is durable: it is, or it is not."""
    faults: int = 0
    """An execution meets one of `FAULTS`, or its answer is lost."""
    early: int = 0
    """The reactor's timer fires while other things are still under way."""


class Scope:
    """What all states of one search have in common."""

    def __init__(
        self,
        settings: ContractSettings,
        data: tuple[str, ...],
        windows: Windows,
        *,
        lazy: bool,
    ) -> None:
        self.settings = settings
        self.kind = contract_kind(settings)
        self.arrivals = tuple(arrival(number, datum) for number, datum in enumerate(data, 1))
        self.wanted = {datum: each.id for datum, each in zip(data, self.arrivals, strict=True)}
        """Which intent wants which data, in order."""
        self.parts = Parts()
        self.turns = Turns(self.parts, self.kind, windows, lazy=lazy)
        self.ledgers = Ledgers(self.parts, self.kind)
        self.rounds = Rounds(self.parts, takes_parent=settings.takes_parent)

    def start(self, budget: Budget) -> "State":
        state = State()
        state.scope = self
        state.ledger = self.ledgers.empty()
        state.chain = self.rounds.empty()
        state.mail = state.untold = ()
        state.submitted = state.life = 0
        state.now_ms = BEGIN_MS
        state.budget = budget
        state._boot()
        return state


def arrival(number: int, datum: str) -> Arrival:
    payload = encode(ContractCall(CONTRACT, "did:scope", datum))
    return Arrival(
        id=intent_id(number, bytes(10)),
        lane=LANE,
        payload=payload,
        digest=blake2b(payload, digest_size=16).digest(),
        accepted_ms=0,
        key=f"k{number}",
        fresh=True,
    )


class Word(Enum):
    """What kind of step a choice is."""

    DELIVER = ""
    SUBMIT = "the next submission is accepted"
    TIMER = "the reactor's timer fires"
    EXPIRE = "its performer gives up at the deadline"
    EARLY = "the reactor's timer fires early"
    UNANSWERED = "the store does not say so"
    UNWRITTEN = "but it never was, and the store does not say so"
    FAULT = "and meets a fault"
    ANSWER_LOST = "its answer is lost"
    CRASH = "the process dies, and another starts"


class Choice(Struct, frozen=True):
    """One possible next step."""

    word: Word
    mail: Mail | None = None
    fault: Fault = Fault.NONE

    def __str__(self) -> str:
        said = [] if self.mail is None else [describe(self.mail.value)]
        if self.word is not Word.DELIVER:
            fault = "" if self.fault is Fault.NONE else f" ({self.fault.value})"
            said.append(f"{self.word.value}{fault}")
        return ", ".join(said)


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
            reactor = number(Form(*place).reactor(self.reactor.value))
            self.reactor.forms[place] = reactor
        ledger = self.ledger.forms.get(place)
        if ledger is None:
            ledger = number(Form(*place).book(self.ledger.value, LANE))
            self.ledger.forms[place] = ledger
        chain = self.chain.forms.get(0)
        if chain is None:
            chain = self.chain.forms[0] = number(self.chain.value.data())
        mail = []
        for each in self.mail:
            form = each.forms.get(place)
            if form is None:
                message = each.value
                form = number((type(message).__name__, Form(*place)(message)))
                each.forms[place] = form
            mail.append(form)
        mail.sort()
        return encode((reactor, ledger, chain, mail, self.submitted, self.untold, self.budget))

    # What may come next.

    def choices(self) -> list[Choice]:
        """Every possible next step: first what happens by itself, then what goes wrong."""
        budget = self.budget
        moves: list[Choice] = []
        wrongs: list[Choice] = []
        for mail in dict.fromkeys(self.mail):
            moves.append(Choice(Word.DELIVER, mail))
            match mail.value:
                case Writing() if budget.lost:
                    wrongs += (Choice(Word.UNANSWERED, mail), Choice(Word.UNWRITTEN, mail))
                case Travelling() if budget.faults:
                    wrongs += (Choice(Word.FAULT, mail, fault) for fault in FAULTS)
                case Running(heard=True, told=True) if budget.faults:
                    wrongs.append(Choice(Word.ANSWER_LOST, mail))
                case _:
                    pass
        moves += (Choice(Word.EXPIRE, mail) for mail in self._expired())
        if self.submitted < len(self.scope.arrivals):
            moves.append(Choice(Word.SUBMIT))
        if self.reactor.value.next_ms() is not None:
            if not moves:
                moves.append(Choice(Word.TIMER))
            elif budget.early:
                wrongs.append(Choice(Word.EARLY))
        if budget.crashes:
            wrongs.append(Choice(Word.CRASH))
        return moves + wrongs

    def _expired(self) -> list[Mail]:
        """One message for each execution whose caller has waited long enough."""
        waiting: dict[Execute, Mail] = {}
        for mail in self.mail:
            message = mail.value
            if (
                isinstance(message, Travelling | Running)
                and message.heard
                and message.effect.deadline_ms <= self.now_ms
            ):
                waiting[message.effect] = mail
        return list(waiting.values())

    # What comes of it.

    def take(self, choice: Choice) -> "State":
        """The state behind a choice; `LawBroken` if the step itself breaks one."""
        state = self._split()
        mail = choice.mail
        match choice.word:
            case Word.DELIVER:
                assert mail is not None
                state._drop(mail)
                state._deliver(mail)
            case Word.SUBMIT:
                state._submit()
            case Word.TIMER:
                state._pass_time()
            case Word.EXPIRE:
                assert mail is not None
                state._expire(mail)
            case Word.CRASH:
                state.budget = replace(self.budget, crashes=self.budget.crashes - 1)
                state._crash()
            case Word.EARLY:
                state.budget = replace(self.budget, early=self.budget.early - 1)
                state._pass_time()
            case Word.UNANSWERED | Word.UNWRITTEN:
                assert mail is not None
                state.budget = replace(self.budget, lost=self.budget.lost - 1)
                state._drop(mail)
                state._doubt(mail, written=choice.word is Word.UNANSWERED)
            case Word.FAULT | Word.ANSWER_LOST:
                assert mail is not None
                state.budget = replace(self.budget, faults=self.budget.faults - 1)
                state._drop(mail)
                if choice.word is Word.FAULT:
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
            case Entered() | Loaded() | Page() | Written() | Doubted() | Answer():
                self._tell(mail)
            case Leaving():
                self._leave(mail, message)
            case Travelling():
                self._arrive(mail, Fault.NONE)
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
        abroad = [each for each in self.mail if isinstance(each.value, Travelling | Running)]
        self.mail = tuple(map(self._unheard, abroad))
        self.untold = ()
        self._boot()

    def _unheard(self, mail: Mail) -> Mail:
        assert isinstance(mail.value, Travelling | Running)
        return self.scope.parts.mail(replace(mail.value, heard=False))

    def _doubt(self, mail: Mail, *, written: bool) -> None:
        message = mail.value
        assert isinstance(message, Writing)
        if written:
            self._write(message, mail)
        self.mail += (self.scope.parts.mail(Doubted(message.commit.lease)),)

    def _write(self, writing: Writing, mail: Mail) -> Mail:
        self.ledger, written = self.scope.ledgers.commit(self.ledger, mail)
        if written.value != Written(writing.commit.lease, None):
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
            self.mail += (self.scope.parts.mail(Answer(declined(effect, declines))),)
        elif not isinstance(effect, Execute):
            self.mail += (self.scope.rounds.look(self.chain, mail),)
        elif is_recorded(self.ledger.value, effect):
            self.mail += (self.scope.parts.mail(Travelling(effect)),)
        else:
            tried = f"try {effect.attempt} of slot {effect.slot}"
            raise LawBroken(f"nothing leaves unrecorded: {tried} is not in the store")

    def _arrive(self, mail: Mail, fault: Fault) -> None:
        self.chain, running = self.scope.rounds.begin(self.chain, mail, fault)
        self.mail += running

    def _expire(self, mail: Mail) -> None:
        """The performer waits no longer, and says so; what still runs goes on unheard."""
        assert isinstance(mail.value, Travelling | Running)
        effect = mail.value.effect
        self.mail = tuple(
            self._unheard(each)
            if isinstance(each.value, Travelling | Running) and each.value.effect == effect
            else each
            for each in self.mail
        )
        self._tell(self.scope.parts.mail(Answer(expired(effect))))
