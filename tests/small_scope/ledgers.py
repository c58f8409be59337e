"""Steps of the store, each with the message it answers with."""

from collections.abc import Callable
from typing import Any, TypeAlias, assert_never

from tests.small_scope.copies import copied
from tests.small_scope.messages import (
    Asking,
    CommitWritten,
    Entered,
    Loaded,
    Loading,
    Message,
    Releasing,
    ScopePage,
    Writing,
)
from tests.small_scope.parts import LANE, Mail, Part, ScopeParts

from laneway.core.errors import LeaseLost
from laneway.core.ids import Owner
from laneway.core.intent import Accepted, Arrival
from laneway.core.rows import Table
from laneway.lanes.contract.lane import ContractLane, decode_head, decode_slot
from laneway.lanes.contract.values import Execute
from laneway.lanes.kind import LaneKind
from laneway.ports import Commit
from laneway.sim.world import LawBroken
from laneway.stores.book import flush
from laneway.stores.memory import MemoryBook

Ledger: TypeAlias = Part[MemoryBook]


class Ledgers:
    """Steps of the book, each made once."""

    def __init__(self, parts: ScopeParts, kind: LaneKind) -> None:
        self._parts = parts
        self._kind = kind

    def empty(self) -> Ledger:
        return self._parts.keep(MemoryBook())

    # Writers: the book behind the step, and the answer.

    def accept(self, ledger: Ledger, arrival: Arrival) -> tuple[Ledger, Mail]:
        def make(book: MemoryBook) -> Message:
            (answer,) = book.accept([arrival])
            assert isinstance(answer, Accepted)
            return Entered(arrival, answer.seq)

        return self._write(ledger, arrival.id, make)

    def claim(self, ledger: Ledger, owner: Owner, now_ms: int) -> tuple[Ledger, Mail]:
        def make(book: MemoryBook) -> Message:
            lease = book.claim(LANE, owner, now_ms)
            if lease is None:
                raise LawBroken("a lane of the dead could not be claimed")
            return Loading(lease)

        return self._write(ledger, (owner, now_ms), make)

    def commit(self, ledger: Ledger, mail: Mail) -> tuple[Ledger, Mail]:
        def make(book: MemoryBook) -> Message:
            assert isinstance(mail.value, Writing)
            commit = mail.value.commit
            return CommitWritten(commit.lease, self._commit(book, commit))

        return self._write(ledger, mail, make)

    def release(self, ledger: Ledger, mail: Mail) -> Ledger:
        def make(book: MemoryBook) -> Message:
            assert isinstance(mail.value, Releasing)
            book.release(mail.value.lease)
            return mail.value

        return self._write(ledger, mail, make)[0]

    def _write(
        self, ledger: Ledger, name: Any, make: Callable[[MemoryBook], Message]
    ) -> tuple[Ledger, Mail]:
        """Change a copy, in one group of the store."""
        found: tuple[Ledger, Mail] | None = ledger.steps.get(name)
        if found is None:
            book = copied(ledger.value)
            book.begin()
            answer = make(book)
            flush(book)
            book.entries.clear()  # Each commit's records were held against its rows.
            found = ledger.steps[name] = (self._parts.keep(book), self._parts.mail(answer))
        return found

    def _commit(self, book: MemoryBook, commit: Commit) -> int | None:
        """Write it, and see that its records say what its rows say."""
        kind, lease, write = self._kind, commit.lease, commit.write
        try:
            folded = kind.restore(book.load(lease))
            version = book.commit(lease, commit.version, write)
        except LeaseLost:
            return None
        flush(book)
        book.begin()
        for record in kind.decode(write.feed) if write.feed else ():
            kind.evolve(folded, record)
        kept = kind.restore(book.load(lease))
        if not alike(folded, kept):
            raise LawBroken(f"the records say {told(folded)}, the rows {told(kept)}")
        return version

    # Readers.

    def read(self, ledger: Ledger, mail: Mail) -> Mail:
        """A page or a lane's rows, as they stand now."""
        message = mail.value
        assert isinstance(message, Asking | Loading)
        return ledger.step(mail, lambda: self._parts.mail(self._read(ledger.value, message)))

    def _read(self, book: MemoryBook, message: Asking | Loading) -> Message:
        match message:
            case Asking(order=order):
                return ScopePage(order.lease, book.backlog(order.lease, order.after, order.limit))
            case Loading(lease=lease):
                try:
                    return Loaded(lease, book.load(lease))
                except LeaseLost:
                    return Loaded(lease, None)
            case _:
                assert_never(message)


def alike(one: ContractLane, other: ContractLane) -> bool:
    """Whether two lanes hold the same rows."""
    return (one.head, one.slot, one.attempts) == (other.head, other.slot, other.attempts)


def told(lane: ContractLane) -> str:
    return f"{lane.head}, {lane.slot}, {list(lane.attempts.values())}"


def is_recorded(book: MemoryBook, effect: Execute) -> bool:
    """Whether the record that explains an execution is durable."""
    shelf = book.shelves[LANE]
    for row in shelf.rows.values():
        if row.table == Table.SLOT and decode_slot(row.body).id == effect.slot:
            return effect.attempt < decode_slot(row.body).attempt_next
    # Settled meanwhile, by an earlier try: this one can only be refused.
    return bool(shelf.head.state) and effect.slot < decode_head(shelf.head.state).slot_next
