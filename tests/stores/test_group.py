"""The asyncio store over a Book: who shares a sync with whom, and who hears what."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from laneway.core.errors import (
    Bug,
    LeaseLost,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnknown,
)
from laneway.core.ids import IntentId, LaneId, Owner, intent_id, lane_id
from laneway.core.intent import Accepted, Answer, Arrival, IntentRow
from laneway.core.rows import Command
from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.engine.contract import ContractPerformer, encode_call
from laneway.engine.limits import COMMIT_RETRY_MS_MIN
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine
from laneway.engine.system import SystemClock
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.ports import Commit, ContractCall, Lost
from laneway.stores import group, requests
from laneway.stores.book import Book
from laneway.stores.group import GroupStore
from laneway.stores.limits import INLINE_SYNC_MS_MAX
from laneway.stores.memory import MemoryBook
from laneway.stores.sqlite import SqliteBook, database

LANE = LaneId("contract:a")
ME = Owner("me")
CLOCK = SystemClock()


class Watched(MemoryBook):
    """A book in memory that notes its groups, and whose syncs do as they are told."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[list[IntentId]] = []
        self.threads: set[str] = set()
        self.syncing = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.fails: list[StoreError] = []
        self.closed = 0

    def begin(self) -> None:
        super().begin()
        self.groups.append([])

    def accept(self, arrivals: Sequence[Arrival]) -> list[Answer]:
        self.groups[-1] += [arrival.id for arrival in arrivals]
        return super().accept(arrivals)

    def sync(self) -> None:
        self.threads.add(threading.current_thread().name)
        self.syncing.set()
        assert self.gate.wait(10)
        if self.fails:
            self.rollback()
            raise self.fails.pop()
        super().sync()

    def close(self) -> None:
        self.closed += 1

    def sizes(self) -> list[int]:
        return [len(ids) for ids in self.groups]


def arrival(number: int, lane: LaneId = LANE, payload: bytes = b"") -> Arrival:
    id_ = intent_id(number, number.to_bytes(10, "big"))
    return Arrival(id=id_, lane=lane, payload=payload, digest=b"", accepted_ms=number)


def seqs(answers: Sequence[Sequence[Answer]]) -> list[int]:
    return [one.seq for answer in answers for one in answer if isinstance(one, Accepted)]


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 30))


async def synced(book: Watched) -> None:
    """Wait until the writer thread is inside a sync."""
    while not book.syncing.is_set():
        await asyncio.sleep(0)
    book.syncing.clear()


# Groups.


def test_what_is_asked_in_one_moment_is_one_group() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="never")
        await asyncio.gather(*(store.accept([arrival(number)]) for number in range(5)))
        assert book.sizes() == [5]
        assert (store.groups, store.grouped) == (1, 5)

    run(story())


def test_what_arrives_while_a_group_is_written_shares_the_next() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="always")
        book.gate.clear()
        first = store.accept([arrival(0)])
        await synced(book)
        others = []
        for number in range(1, 8):
            others.append(store.accept([arrival(number)]))
            await asyncio.sleep(0)
        assert book.sizes() == [1]
        assert not first.done()
        book.gate.set()
        await asyncio.gather(first, *others)
        assert book.sizes() == [1, 7]
        await store.close()

    run(story())


def test_nobody_is_answered_before_the_sync() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="always")
        book.gate.clear()
        asked: list[asyncio.Future[Any]] = [
            store.accept([arrival(1)]),
            store.claim(LANE, ME),
            store.tell(Command(0, LANE, "pause", 0)),
            store.prune(0, 0, 1),
        ]
        await synced(book)
        for _ in range(10):
            await asyncio.sleep(0)
        assert not any(future.done() for future in asked)
        book.gate.set()
        await asyncio.gather(*asked)
        await store.close()

    run(story())


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([1] * 12, [5, 5, 2]),
        ([40, 40, 20, 1], [3, 1]),
        ([40, 40, 21], [2, 1]),
        ([500, 1], [1, 1]),
        ([1, 500, 1], [1, 1, 1]),
    ],
)
def test_a_group_keeps_its_bounds_and_holds_at_least_one(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], groups: list[int]
) -> None:
    monkeypatch.setattr(requests, "GROUP_REQUESTS_MAX", 5)
    monkeypatch.setattr(requests, "GROUP_BYTES_MAX", 100)
    monkeypatch.setattr(group, "COMMIT_BYTES", 0)

    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="never")
        arrivals = [arrival(number, payload=bytes(size)) for number, size in enumerate(sizes)]
        answers = await asyncio.gather(*(store.accept([one]) for one in arrivals))
        assert book.sizes() == groups
        assert seqs(answers) == list(range(1, len(sizes) + 1))

    run(story())


def test_a_cancelled_caller_harms_nobody() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="always")
        book.gate.clear()
        writing = [store.accept([arrival(number)]) for number in (1, 2)]
        await synced(book)
        waiting = [store.accept([arrival(number)]) for number in (3, 4)]
        writing[0].cancel()
        waiting[0].cancel()
        book.gate.set()
        answers = await asyncio.gather(writing[1], waiting[1])
        assert seqs(answers) == [2, 4]
        # What was asked is done all the same: nobody can tell how far it had come.
        assert await store.intent(arrival(3).id) is not None
        await store.close()

    run(story())


def test_readers_are_answered_at_once() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="always")
        await store.accept([arrival(1)])
        book.gate.clear()
        book.syncing.clear()
        writing = store.accept([arrival(2)])
        await synced(book)
        for answer in (store.lane(LANE), store.oldest(LANE), store.lanes(None, 1)):
            assert answer.done()
        book.gate.set()
        await writing
        await store.close()

    run(story())


def test_a_slow_disk_is_waited_for_by_a_thread_and_a_quick_one_is_not() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK)
        number = 0

        async def written_by(count: int) -> set[str]:
            nonlocal number
            for number in range(number + 1, number + 1 + count):  # noqa: B020
                book.threads.clear()
                await store.accept([arrival(number)])
            return set(book.threads)

        here = threading.current_thread().name
        assert await written_by(3) == {here}
        book.sync_ms = 1_000.0
        # One slow sync, a checkpoint, does not make a slow disk.
        assert await written_by(2) == {here}
        assert here not in await written_by(60)
        book.sync_ms = INLINE_SYNC_MS_MAX / 10
        assert await written_by(200) == {here}
        await store.close()

    run(story())


@pytest.mark.slow
def test_readers_and_the_writer_thread_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAL_PAGES_CHECKPOINT", 50)

    async def story() -> None:
        store = GroupStore(SqliteBook(str(tmp_path / "f.db")), CLOCK, thread="always")
        asked = []
        seen = 0
        for number in range(200):
            lane = LaneId(f"contract:{number % 7}")
            asked.append(store.accept([arrival(number, lane, bytes(300))]))
            await asyncio.sleep(0)
            # What a reader sees is whole, and never less than before.
            views = store.lanes(None, 10).result()
            waiting = store.page("queued", None, 1_000).result()
            assert len(waiting) >= sum(view.depth() for view in views) >= seen
            seen = sum(view.depth() for view in views)
        await asyncio.gather(*asked)
        assert len(await store.page("queued", None, 1_000)) == 200
        assert store.groups < 200
        await store.close()

    run(story())


# Errors.


def test_a_store_that_is_full_tells_the_whole_group_and_tries_the_next() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="always")
        book.fails.append(StoreFull("f.db"))
        answers = await asyncio.gather(
            *(store.accept([arrival(number)]) for number in (1, 2)), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [StoreFull, StoreFull]
        assert (await store.accept([arrival(1)]))[0] == Accepted(arrival(1).id, 1, 1, 0, True)
        assert store.groups == 1
        await store.close()

    run(story())


def test_after_a_failed_sync_everyone_hears_of_it_and_nothing_is_tried() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="always")
        book.gate.clear()
        book.fails.append(StoreClosed("f.db", "disk I/O error"))
        writing = store.accept([arrival(1)])
        await synced(book)
        waiting = store.accept([arrival(2)])
        book.gate.set()
        for future in (writing, waiting, store.accept([arrival(3)]), store.beat(ME, 1)):
            with pytest.raises(StoreClosed):
                await future
        with pytest.raises(StoreClosed):
            await store.intent(arrival(1).id)
        assert book.sizes() == [1]
        await store.close()
        assert book.closed == 1

    run(story())


def test_damage_that_a_reader_finds_stops_the_writes_that_wait() -> None:
    class Damaged(Watched):
        def oldest(self, lane: LaneId) -> IntentRow | None:
            raise StoreCorrupt("f.db", "malformed")

    async def story() -> None:
        book = Damaged()
        store = GroupStore(book, CLOCK, thread="never")
        waiting = store.accept([arrival(1)])
        with pytest.raises(StoreCorrupt):
            await store.oldest(LANE)
        with pytest.raises(StoreCorrupt):
            await waiting
        assert book.groups == []

    run(story())


def test_an_error_told_again_and_again_does_not_grow() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="never")
        book.fails.append(StoreClosed("f.db", "disk I/O error"))
        lengths = []
        for _ in range(20):
            for ask in (lambda: store.accept([arrival(1)]), lambda: store.lane(LANE)):
                with pytest.raises(StoreClosed) as caught:
                    await ask()
                lengths.append(len(caught.traceback))
        assert max(lengths[2:]) == lengths[2]

    run(story())


def test_a_broken_law_is_told_to_the_one_who_broke_it() -> None:
    class Broken(Watched):
        def tell(self, command: Command) -> Command:
            assert command.verb != "break"
            return super().tell(command)

    async def story() -> None:
        book = Broken()
        store = GroupStore(book, CLOCK, thread="never")
        fresh = Arrival(
            id=arrival(1).id, lane=LANE, payload=b"", digest=b"", accepted_ms=1, fresh=True
        )
        asked: list[asyncio.Future[Any]] = [
            store.accept([arrival(1)]),
            store.accept([fresh]),
            store.tell(Command(0, LANE, "break", 0)),
            store.tell(Command(0, LANE, "pause", 0)),
        ]
        answers: list[Any] = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(answers[0][0], Accepted)
        assert isinstance(answers[1], Bug)
        assert isinstance(answers[2], AssertionError)
        assert answers[3].id == 1
        # Each was written alone once, and together with the others again afterwards.
        await asyncio.gather(*(store.accept([arrival(number)]) for number in (5, 6)))
        assert book.sizes()[-1] == 2

    run(story())


def test_an_id_that_is_none_is_a_bug_of_its_caller_alone(tmp_path: Path) -> None:
    async def story() -> None:
        store = GroupStore(SqliteBook(str(tmp_path / "f.db")), CLOCK)
        odd = Arrival(id=IntentId("tx_?"), lane=LANE, payload=b"", digest=b"", accepted_ms=1)
        bad, good = store.accept([arrival(1), odd]), store.accept([arrival(2)])
        with pytest.raises(Bug, match="not an intent id"):
            await bad
        assert (await good)[0] == Accepted(arrival(2).id, 1, 1, 0, True)
        with pytest.raises(Bug):
            await store.intent(IntentId("tx_?"))
        assert await store.intent(arrival(1).id) is None
        await store.close()

    run(story())


# The end.


def test_close_writes_what_waits_and_refuses_what_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "GROUP_REQUESTS_MAX", 1)
    for thread in ("never", "always"):

        async def story(thread: Any) -> None:
            book = Watched()
            store = GroupStore(book, CLOCK, thread=thread)
            asked = [store.accept([arrival(number)]) for number in (1, 2, 4)]
            await store.close()
            assert [len(future.result()) for future in asked] == [1, 1, 1]
            assert book.closed == 1
            with pytest.raises(StoreRefused, match="closed"):
                await store.accept([arrival(3)])
            with pytest.raises(StoreRefused, match="closed"):
                await store.lane(LANE)

        run(story(thread))


def test_close_waits_for_a_group_that_is_being_written() -> None:
    async def story() -> None:
        book = Watched()
        store = GroupStore(book, CLOCK, thread="always")
        book.gate.clear()
        asked = store.accept([arrival(1)])
        await synced(book)
        closing = store.close()
        later = store.accept([arrival(2)])
        await asyncio.sleep(0.01)
        assert not closing.done()
        book.gate.set()
        await closing
        assert asked.done()
        assert later.done()

    run(story())


def test_leases_are_counted_by_a_clock_that_nobody_sets() -> None:
    class Jumping(SystemClock):
        def now_ms(self) -> int:
            return super().now_ms() + 3_600_000 * len(book.groups)

    book = Watched()

    async def story() -> None:
        store = GroupStore(book, Jumping(), thread="never")
        await store.beat(ME, 60_000)
        assert await store.claim(LANE, ME) is not None
        assert await store.claim(LANE, Owner("you")) is None
        assert not isinstance(await store.beat(ME, 60_000), Lost)

    run(story())


# With the engine.


class Forgetful(GroupStore):
    """Now and then a commit's answer is lost, written or not."""

    def __init__(self, book: Book, dice: Random) -> None:
        super().__init__(book, CLOCK)
        self._dice = dice
        self.lost = 0

    def commit(self, commits: Sequence[Commit]) -> "asyncio.Future[Sequence[int | LeaseLost]]":
        if self._dice.random() < 0.7:
            return super().commit(commits)
        self.lost += 1
        applied = self._dice.random() < 0.5
        return asyncio.ensure_future(self._forget(commits if applied else ()))

    async def _forget(self, commits: Sequence[Commit]) -> Sequence[int | LeaseLost]:
        await super().commit(commits)
        raise StoreUnknown("the answer was lost")


class Busy(GroupStore):
    """The disk is full for a while."""

    def __init__(self, book: Book, until_s: float) -> None:
        super().__init__(book, CLOCK)
        self._until_s = until_s
        self.refused: list[tuple[float, Sequence[Commit]]] = []
        self.taken: list[Commit] = []

    def commit(self, commits: Sequence[Commit]) -> "asyncio.Future[Sequence[int | LeaseLost]]":
        loop = asyncio.get_running_loop()
        if loop.time() < self._until_s:
            self.refused.append((loop.time(), commits))
            future = loop.create_future()
            future.set_exception(StoreFull("f.db"))
            return future
        self.taken += commits
        return super().commit(commits)


def engine(store: GroupStore, chain: ContractChain) -> Engine:
    kind = contract_kind(ContractSettings(retry_ms_min=10, search_ms=10))
    performer = ContractPerformer(EmbeddedHost(chain), CLOCK)
    return Engine(store, Reactor({"contract": kind}, ME), {"contract": performer}, CLOCK)


def executions(contracts: int, each: int) -> list[Arrival]:
    calls = [ContractCall(f"c{n % contracts}", "did", f"{n}") for n in range(contracts * each)]
    return [
        arrival(n + 1, lane_id("contract", call.contract), encode_call(call))
        for n, call in enumerate(calls)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kept", [False, True], ids=["memory", "sqlite"])
def test_a_lost_commit_answer_ends_in_a_reload_and_nothing_runs_twice(
    tmp_path: Path, kept: bool
) -> None:
    async def story() -> None:
        book: Book = SqliteBook(str(tmp_path / "f.db")) if kept else MemoryBook()
        store = Forgetful(book, Random(5))
        chain = ContractChain(round_ms=1)
        running = engine(store, chain)
        await running.start()
        arrivals = executions(5, 12)
        await running.submit_many(arrivals)
        results = await asyncio.gather(*(running.result(one.id) for one in arrivals))
        assert {result.status for result in results} == {"confirmed"}
        for contract in range(5):
            data = [block.data for block in chain.history(f"c{contract}") if block.number]
            assert data == [str(n) for n in range(contract, 60, 5)]
        assert store.lost >= 5
        # Every reload claimed its lane anew.
        views = await store.lanes(None, 10)
        assert sum(view.head.fence for view in views) >= 5 + store.lost
        assert all(view.depth() == 0 for view in views)
        await running.stop()
        await store.close()

    run(story())


@pytest.mark.slow
def test_a_busy_store_gets_the_same_write_again_and_no_spinning() -> None:
    async def story() -> None:
        begun_s = asyncio.get_running_loop().time()
        store = Busy(MemoryBook(), begun_s + 0.5)
        chain = ContractChain(round_ms=1)
        running = engine(store, chain)
        await running.start()
        arrivals = executions(3, 1)
        await running.submit_many(arrivals)
        await asyncio.gather(*(running.result(one.id) for one in arrivals))
        lanes = [commit.lease.lane for _, commits in store.refused for commit in commits]
        # 50, 100, 200 and 400 ms apart: half a second holds four or five tries of a lane.
        for lane in {one.lane for one in arrivals}:
            assert 2 <= lanes.count(lane) <= 5
        refused = [commit for _, commits in store.refused for commit in commits]
        for commit in refused:
            assert commit in store.taken
        times = [at_s for at_s, _ in store.refused]
        assert times[-1] - times[0] > COMMIT_RETRY_MS_MIN / 1000
        assert [len(chain.history(f"c{n}")) for n in range(3)] == [2, 2, 2]
        await running.stop()
        await store.close()

    run(story())


def test_busy_is_told_before_anything_else_is_tried() -> None:
    """The writer never retries by itself: whoever asked knows best how long to wait."""

    async def story() -> None:
        book = Watched()
        book.fails.append(StoreBusy("locked"))
        store = GroupStore(book, CLOCK, thread="never")
        with pytest.raises(StoreBusy):
            await store.accept([arrival(1)])
        assert book.sizes() == [1]

    run(story())
