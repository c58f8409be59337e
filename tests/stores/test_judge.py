"""The judge by itself, on facts in dictionaries: answers, and what a group has to write."""

from typing import Any

import pytest

from laneway.core.errors import Bug, LeaseLost
from laneway.core.ids import IntentId, LaneId, Owner, intent_id
from laneway.core.intent import Accepted, Arrival, Conflict, Full, Replayed, placed
from laneway.core.rows import (
    Command,
    Head,
    HeadWrite,
    Index,
    Lease,
    Result,
    RowKey,
    RowPut,
    Tail,
    Touch,
    Write,
)
from laneway.stores.judge import (
    ID_INDEX,
    KEY_INDEX,
    Judge,
    LaneEntry,
    empty_entry,
    entry_of,
    head_columns,
    key_value,
    leftovers,
    tail_columns,
)

LANE = LaneId("contract:a")
ME, YOU = Owner("me"), Owner("you")


class DictFacts:
    """What a store held, in dictionaries."""

    def __init__(self) -> None:
        self.entries: dict[LaneId, LaneEntry] = {}
        self.known: dict[IntentId, bool] = {}
        """Intents that are there, and whether they are final."""
        self.keys: dict[str, Index] = {}
        self.alive: set[Owner] = set()
        self.commands = 0

    def entry(self, lane: LaneId) -> LaneEntry:
        return self.entries.get(lane) or empty_entry(lane)

    def is_known(self, arrival: Arrival) -> bool:
        return arrival.id in self.known

    def key(self, value: str) -> Index | None:
        return self.keys.get(value)

    def is_final(self, intent: IntentId) -> bool:
        return self.known.get(intent, False)

    def check_unsettled(self, intent: IntentId) -> None:
        if self.known.get(intent) is not False:
            raise Bug(intent)

    def command_number(self) -> int:
        self.commands += 1
        return self.commands

    def gives_way(self, holder: Owner | None, owner: Owner, now_ms: int) -> bool:
        return holder not in self.alive


@pytest.fixture
def facts() -> DictFacts:
    return DictFacts()


@pytest.fixture
def judge(facts: DictFacts) -> Judge:
    return Judge(facts)


def arrival(number: int, **fields: Any) -> Arrival:
    fields = {"payload": b"12", "digest": b"d%d" % number} | fields
    id_ = intent_id(number, number.to_bytes(10, "big"))
    return Arrival(id=id_, lane=LANE, accepted_ms=number, **fields)


def head(settled: int = 0, wake_ms: int | None = None, state: bytes = b"s") -> HeadWrite:
    return HeadWrite((settled,), settled, 2 * settled, wake_ms, state)


def writes(*touched: Touch, settled: int = 0, **fields: Any) -> Write:
    return Write(head(settled, fields.pop("wake_ms", None)), touched, **fields)


def owned(judge: Judge) -> Lease:
    lease = judge.claim(LANE, ME)
    assert lease is not None
    return lease


def test_arrivals_get_the_next_sequences_and_count_in_the_tail(judge: Judge) -> None:
    one, two = arrival(1, fast_size=1), arrival(2, fast_size=1, key="k", scope="me")
    assert judge.accept([one, two]) == [
        Accepted(one.id, 1, 1, 2, True),
        Accepted(two.id, 2, 2, 4, False),
    ]
    entry = judge.lanes[LANE]
    assert Tail(LANE, *tail_columns(entry)) == Tail(LANE, 3, 2, 4, 1, 1)
    assert Head(LANE, *head_columns(entry)) == Head(LANE, wake_ms=0)
    assert (entry.tail_dirty, entry.head_dirty, entry.wake_dirty) == (True, False, True)
    assert judge.intents == {one.id: (one, 1), two.id: (two, 2)}
    value = key_value("me", "k")
    assert judge.keys == {value: Index(KEY_INDEX, value, two.id, LANE, b"d2")}
    entry.clean()
    assert not entry.is_dirty()


def test_a_lane_at_its_limits_is_full_and_nothing_changes(judge: Judge) -> None:
    judge.accept([arrival(1)])
    judge.lanes[LANE].clean()
    assert judge.accept([arrival(2, count_max=1)]) == [Full("intents", 1)]
    assert judge.accept([arrival(2, bytes_max=3)]) == [Full("bytes", 3)]
    assert not judge.lanes[LANE].is_dirty()
    (answer,) = judge.accept([arrival(2, count_max=2, bytes_max=4)])
    assert isinstance(answer, Accepted)


def test_an_id_that_is_known_replays_unless_it_was_said_to_be_fresh(
    judge: Judge, facts: DictFacts
) -> None:
    facts.known[arrival(1).id] = False
    judge.accept([arrival(2)])
    assert judge.accept([arrival(1), arrival(2)]) == [
        Replayed(arrival(1).id),
        Replayed(arrival(2).id),
    ]
    for number in (1, 2):
        with pytest.raises(Bug):
            judge.accept([arrival(number, fresh=True)])


def test_a_key_replays_with_the_same_body_and_conflicts_with_another(
    judge: Judge, facts: DictFacts
) -> None:
    older = Index(KEY_INDEX, key_value("", "old"), arrival(9).id, LANE, b"d9")
    facts.keys[older.value] = older
    judge.accept([arrival(1, key="k")])
    asked = [arrival(2, key="k", digest=b"d1"), arrival(2, key="k"), arrival(2, key="old")]
    assert judge.accept(asked) == [
        Replayed(arrival(1).id),
        Conflict(arrival(1).id),
        Conflict(older.intent),
    ]


@pytest.mark.parametrize("priority", [-1, 4])
def test_a_class_that_no_backlog_reads_is_a_bug(judge: Judge, priority: int) -> None:
    with pytest.raises(Bug):
        judge.accept([arrival(1, priority=priority)])


def test_a_command_is_queued_and_wakes_its_lane(judge: Judge) -> None:
    first, second = (judge.tell(Command(0, LANE, "pause", 3)) for _ in range(2))
    assert (first.id, second.id) == (1, 2)
    assert judge.commands == [first, second]
    entry = judge.lanes[LANE]
    assert (entry.mail, entry.wake_ms) == ({1: first, 2: second}, 0)


def test_a_command_about_an_intent_is_queued_once_and_never_when_it_is_final(
    judge: Judge, facts: DictFacts
) -> None:
    one, two, three = (arrival(number).id for number in (1, 2, 3))
    cancel = Command(0, LANE, "cancel", 3, intent=one)
    assert judge.tell(cancel) == judge.tell(cancel)
    assert judge.tell(Command(0, LANE, "boost", 3, intent=one)).id == 2
    facts.known = {two: True, three: False}
    assert judge.tell(Command(7, LANE, "cancel", 3, intent=two)).id == 0
    judge.commit(owned(judge), 1, writes(Result(three, "confirmed", 5)))
    assert judge.tell(Command(7, LANE, "cancel", 3, intent=three)).id == 0
    assert len(judge.commands) == 2


def test_a_claim_raises_the_fence_where_the_holder_gives_way(
    judge: Judge, facts: DictFacts
) -> None:
    assert owned(judge) == Lease(LANE, ME, 1)
    assert judge.claim(LANE, YOU) == Lease(LANE, YOU, 2)
    facts.alive.add(YOU)
    assert judge.claim(LANE, ME) is None
    assert (judge.lanes[LANE].owner, judge.lanes[LANE].fence) == (YOU, 2)


def test_a_promoted_server_hands_out_higher_fences_and_takes_no_older(facts: DictFacts) -> None:
    judge = Judge(facts, fence_passed=10)
    facts.entries[LANE] = entry_of(Tail(LANE), Head(LANE, ME, 10))
    with pytest.raises(LeaseLost):
        judge.commit(Lease(LANE, ME, 10), 1, writes())
    assert owned(judge) == Lease(LANE, ME, 11)
    assert judge.commit(Lease(LANE, ME, 11), 1, writes()) == 1


def test_a_commit_gathers_all_that_it_changes(judge: Judge, facts: DictFacts) -> None:
    one, two = arrival(1), arrival(2)
    facts.known[two.id] = False
    judge.accept([one])
    told = judge.tell(Command(0, LANE, "pause", 3))
    lease = owned(judge)
    put = RowPut("slot", "1", one.id, b"row")
    results = [Result(one.id, "confirmed", 5), Result(two.id, "dead", 5)]
    index = Index("hash", "ff", one.id, LANE)
    gone = (RowPut("slot", "2", None, b""), RowKey("slot", "2"))
    touched: tuple[Touch, ...] = (put, *gone, *results, index)
    write = writes(*touched, settled=1, wake_ms=70, answered=(told.id,), at_ms=9, feed=b"f")
    assert judge.commit(lease, 1, write) == 1
    assert judge.rows == {(LANE, "slot", "1"): put, (LANE, "slot", "2"): None}
    assert list(judge.results.values()) == results
    assert judge.indexes == {("hash", "ff"): index}
    assert judge.answered == [(told.id, LANE)]
    assert judge.feed == [(LANE, 1, 9, b"f")]
    assert judge.ended == {LANE: None}
    entry = judge.lanes[LANE]
    assert (entry.mail, entry.head_dirty) == ({}, True)
    expected = Head(LANE, ME, 1, 1, write.digest(), (1,), 1, 2, 70, b"s")
    assert Head(LANE, *head_columns(entry)) == expected


def test_a_commit_that_says_little_tells_nothing(judge: Judge) -> None:
    assert judge.commit(owned(judge), 1, writes()) == 1
    assert (judge.feed, judge.ended, judge.results) == ([], {}, {})
    assert judge.lanes[LANE].wake_ms is None


def test_work_that_waits_never_lets_a_lane_sleep(judge: Judge) -> None:
    lease = owned(judge)
    judge.accept([arrival(1)])
    judge.commit(lease, 1, writes(wake_ms=70))
    assert judge.lanes[LANE].wake_ms == 0
    judge.commit(lease, 2, writes(settled=1, wake_ms=70))
    assert judge.lanes[LANE].wake_ms == 70
    told = judge.tell(Command(0, LANE, "pause", 3))
    judge.commit(lease, 3, writes(settled=1, wake_ms=70))
    assert judge.lanes[LANE].wake_ms == 0
    judge.commit(lease, 4, writes(settled=1, answered=(told.id,)))
    assert judge.lanes[LANE].wake_ms is None


def test_a_commit_without_the_lane_s_fence_or_next_version_is_refused(judge: Judge) -> None:
    for fence in (0, 1):
        with pytest.raises(LeaseLost):
            judge.commit(Lease(LANE, ME, fence), 1, writes())
    lease = owned(judge)
    for version in (2, -1):
        with pytest.raises(LeaseLost):
            judge.commit(lease, version, writes())
    assert judge.commit(lease, 1, writes()) == 1
    judge.claim(LANE, YOU)
    with pytest.raises(LeaseLost):
        judge.commit(lease, 2, writes())
    assert (judge.rows, judge.lanes[LANE].version) == ({}, 1)


def test_a_version_is_written_once_and_with_one_content(judge: Judge) -> None:
    lease, write = owned(judge), writes(feed=b"f")
    assert [judge.commit(lease, 1, write) for _ in range(2)] == [1, 1]
    assert len(judge.feed) == 1
    with pytest.raises(Bug):
        judge.commit(lease, 1, writes(feed=b"g"))


def test_a_second_final_answer_and_one_of_a_stranger_are_bugs(
    judge: Judge, facts: DictFacts
) -> None:
    lease, ended = owned(judge), Result(arrival(1).id, "confirmed", 5)
    for known in ({}, {ended.intent: True}):
        facts.known = dict(known)
        with pytest.raises(Bug):
            judge.commit(lease, 1, writes(ended))
    facts.known = {ended.intent: False}
    with pytest.raises(Bug):
        judge.commit(lease, 1, writes(ended, ended))


def test_a_lane_is_given_back_by_its_last_owner_alone(judge: Judge) -> None:
    judge.release(Lease(LANE, ME, 0))
    lease = owned(judge)
    again = judge.claim(LANE, YOU)
    assert again is not None
    judge.release(lease)
    assert (judge.lanes[LANE].owner, judge.released) == (YOU, [])
    judge.release(again)
    assert (judge.lanes[LANE].owner, judge.released) == (None, [LANE])


def test_a_pruned_intent_leaves_its_id_and_its_key(judge: Judge) -> None:
    keyed, plain = placed(arrival(1, key="k", scope="me"), 1), placed(arrival(2), 2)
    result = Result(keyed.id, "confirmed", 5, hash=b"h")
    judge.prune([(keyed, result), (plain, result)])
    assert judge.pruned == [keyed.id, plain.id]
    left = (keyed.id, LANE, b"d1", "confirmed", b"h")
    assert leftovers(keyed, result) == [
        Index(ID_INDEX, keyed.id, *left),
        Index(KEY_INDEX, key_value("me", "k"), *left),
    ]
    assert list(judge.indexes) == [
        (ID_INDEX, keyed.id),
        (KEY_INDEX, key_value("me", "k")),
        (ID_INDEX, plain.id),
    ]
