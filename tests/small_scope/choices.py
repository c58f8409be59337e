"""The steps to choose from, and how often each kind of trouble may be chosen."""

from enum import Enum

from msgspec import Struct
from tests.small_scope.messages import describe
from tests.small_scope.parts import Mail

from laneway.devnets.contract.model import RequestFault

FAULTS = (
    RequestFault.CRASH,
    RequestFault.CRASH_TOLD,
    RequestFault.LOST,
    RequestFault.DOUBLE_SECOND_TOLD,
)
"""What may go wrong with an execution at the host; that its answer is lost is a step of its own."""


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


class ScopeWord(Enum):
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


class ScopeChoice(Struct, frozen=True):
    """One possible next step."""

    word: ScopeWord
    mail: Mail | None = None
    fault: RequestFault = RequestFault.NONE

    def __str__(self) -> str:
        said = [] if self.mail is None else [describe(self.mail.value)]
        if self.word is not ScopeWord.DELIVER:
            fault = "" if self.fault is RequestFault.NONE else f" ({self.fault.value})"
            said.append(f"{self.word.value}{fault}")
        return ", ".join(said)
