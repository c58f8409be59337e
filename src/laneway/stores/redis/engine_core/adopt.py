"""Taking over an account that engine-core ran: what it left in Redis becomes rows of a lane.

What waits becomes accepted intents in the order of `queued_at`. What is out keeps its number and
is watched by its hash; bytes that were borrowed are offered again as they are. Nothing is signed
anew before the account was read, and nothing of it at another number before the chain proved that
the old one is dead.

The lane is paused first and goes on last, so that a crash between the two leaves a lane that sends
nothing, and the same command, sent again, finishes it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from laneway.core.errors import BadRequest, LeaseLost, StoreRefused
from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import Arrival, IntentRow
from laneway.core.rows import HeadWrite, Index, Lease, RowPut, Table, Touch, Write, all_classes
from laneway.lanes.common.heads import encode, passed
from laneway.lanes.eoa.lane import FREE, RAW, attempt_row, slot_row
from laneway.lanes.eoa.limits import RAW_INLINE_MAX
from laneway.lanes.eoa.ranges import Ranges
from laneway.lanes.eoa.rows import FIRST, Attempt, EoaHead, Purpose, Slot
from laneway.ports import Commit, IntentView, stored_form
from laneway.stores.redis.engine_core.found import (
    AccountContent,
    AccountFound,
    OutgoingHash,
    Use,
    judge_recycled,
    understood,
)
from laneway.stores.redis.engine_core.keys import AccountKeys, account_of
from laneway.stores.redis.engine_core.values import NO_OP
from laneway.stores.redis.layout import LayoutCommand
from laneway.stores.redis.limits import ADOPT_LEASE_MS, ADOPTED_PER_CALL_MAX
from laneway.stores.redis.reader import paired, parts
from laneway.stores.redis.store import RedisStore

PAUSED = "it is being adopted"
Uses: TypeAlias = Callable[[Sequence[int]], Awaitable[Mapping[int, Use | None]]]
"""The final transaction at each nonce, by a majority of nodes; None where none is shown."""
SCOPE = "engine-core"


class Adoption(Struct, frozen=True):
    """What was found of an account, and what becomes of it."""

    lane: LaneId
    lock: str | None
    """The name in the lock, if it is not ours."""
    pending: tuple[str, ...]
    """Ids that become accepted intents, in this order."""
    out: tuple[tuple[int, str, str, bool], ...]
    """Nonce, id, hash, and whether its bytes are known."""
    recycled: tuple[int, ...]
    optimistic: int | None
    counted: int | None
    problems: tuple[str, ...]
    """As long as there are any nothing is taken over."""
    passed_over: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """For a person."""
        yield f"{self.lane}: lock {self.lock or 'free'}"
        yield f"  {len(self.pending)} pending become intents in this order"
        for nonce, name, hash_, has_bytes in self.out:
            yield f"  nonce {nonce}: {name} {hash_}{'' if has_bytes else ', by its hash alone'}"
        yield f"  recycled nonces {list(self.recycled)}, next {self.optimistic}"
        yield from (f"  passed over: {one}" for one in self.passed_over)
        yield from (f"  PROBLEM: {one}" for one in self.problems)


async def adopt(
    store: RedisStore,
    lane: LaneId,
    owner: Owner,
    *,
    nodes: Sequence[str],
    at_ms: int,
    dry_run: bool = True,
    uses: Uses | None = None,
) -> Adoption:
    """Look at an account, and unless it is a dry run take it over. Its worker must be stopped, and
    the account's lane not run meanwhile. `nodes` are those that its attempts are offered to, and
    `uses` says what the chain has at nonces that were recycled; without it nobody knows."""
    account = account_of(store.names, lane)
    if account is None:
        raise BadRequest("lane", f"{lane} is not an account's lane in a plain Redis store")
    head = await head_read(store, lane)
    layout = await read(store, account, head)
    found = understood(layout, bytes.fromhex(account.address[2:]))
    await check_order(store, lane, found, head)
    bound = {one.nonce for one in found.out}
    recycled = [nonce for nonce in layout.recycled if nonce not in bound]
    if is_new(head) and found.pending and recycled:
        judge_recycled(found, recycled, {} if uses is None else await uses(recycled))
    report = reported(lane, layout, found)
    if dry_run or found.problems:
        return report
    await store.beat(owner, ADOPT_LEASE_MS)
    lease = await store.claim(lane, owner, adopt=True)
    if lease is None:
        raise StoreRefused(lane, "another process runs it; stop it first")
    if is_new(head):
        await take_over(store, lease, found, report, nodes=tuple(nodes), at_ms=at_ms)
    else:
        await accept_all(store, lane, found)
    await store.release(lease)
    await store.leave(owner)
    return report


def reported(lane: LaneId, layout: AccountContent, found: AccountFound) -> Adoption:
    bound = {one.nonce for one in found.out}
    lowest = max(layout.counted or 0, 0)
    highest = max([layout.optimistic or 0, *(nonce + 1 for nonce in bound)])
    optimistic = highest if bound or layout.optimistic is not None else None
    return Adoption(
        lane,
        None if layout.lock is None else layout.lock.decode(errors="replace"),
        tuple(name for _, name in found.pending),
        tuple((one.nonce, one.id, "0x" + one.hash.hex(), bool(one.raw)) for one in found.out),
        tuple(
            n
            for n in layout.recycled
            if lowest <= n < highest and n not in bound and n not in found.used
        ),
        optimistic,
        layout.counted,
        tuple(found.problems),
        tuple(found.passed_over),
    )


# What is there.


async def head_read(store: RedisStore, lane: LaneId) -> EoaHead:
    view = await store.lane(lane)
    if view is None or not view.head.state:
        return EoaHead()
    return msgspec.msgpack.decode(view.head.state, type=EoaHead)


def is_new(head: EoaHead) -> bool:
    """Whether the lane has no numbers of its own, or was left in the middle of this."""
    return head.nonce_next is None or head.reason == PAUSED


async def read(store: RedisStore, account: AccountKeys, head: EoaHead) -> AccountContent:
    pending = await scored(store, account.pending)
    submitted = await scored(store, account.submitted)
    signed = paired(await store.raw("HGETALL", account.borrowed))
    names = [*pending, *signed, *(member.split(":")[1] for member in submitted if ":" in member)]
    ours = await known(store, names, begun=head.reason == PAUSED)
    if not is_new(head):
        ours.add(NO_OP)
    requests: dict[str, bytes] = {}
    for part in parts([*dict.fromkeys(names)], ADOPTED_PER_CALL_MAX):
        asked = [store.raw("HGET", account.data(name), "user_request") for name in part]
        kept = zip(part, await asyncio.gather(*asked), strict=True)
        requests |= {name: request for name, request in kept if request is not None}
    lock = await store.raw("GET", account.lock)
    optimistic = await store.raw("GET", account.optimistic)
    counted = await store.raw("GET", account.counted)
    return AccountContent(
        lock,
        {name: at for name, at in pending.items() if name not in ours},
        {name: value for name, value in signed.items() if name not in ours},
        {one: at for one, at in submitted.items() if not ours.intersection(one.split(":")[1:2])},
        tuple(int(one) for one in await scored(store, account.recycled)),
        None if optimistic is None else int(optimistic),
        None if counted is None else int(counted),
        requests,
    )


async def scored(store: RedisStore, key: str) -> dict[str, int]:
    found: dict[str, int] = {}
    while True:
        last = len(found) + ADOPTED_PER_CALL_MAX - 1
        flat = await store.raw("ZRANGE", key, len(found), last, "WITHSCORES")
        for i in range(0, len(flat), 2):
            found[flat[i].decode()] = int(float(flat[i + 1]))
        if len(flat) < 2 * ADOPTED_PER_CALL_MAX:
            return found


async def known(store: RedisStore, names: Sequence[str], *, begun: bool) -> set[str]:
    """Those that are ours already; not what an adoption that broke off had only accepted."""
    found: set[str] = set()
    for view in await views_of(store, names):
        is_accepted_only = not view.open and view.result is None
        if not (begun and is_accepted_only and view.intent.scope == SCOPE):
            found.add(view.intent.id)
    return found


async def views_of(store: RedisStore, names: Iterable[str]) -> list[IntentView]:
    """Those of these intents that the store has, each once."""
    views: list[IntentView | None] = []
    for part in parts([*dict.fromkeys(names)], ADOPTED_PER_CALL_MAX):
        views += await asyncio.gather(*(store.intent(IntentId(name)) for name in part))
    return [view for view in views if view is not None]


async def check_order(store: RedisStore, lane: LaneId, found: AccountFound, head: EoaHead) -> None:
    """What is out stands before all that waits: a lane that has other intents must end them."""
    if not found.out:
        return
    if not is_new(head):
        found.problems.append(f"{lane} has assigned numbers of its own already")
        return
    names = {one.id for one in found.out} | {name for _, name in found.pending}
    for view in await store.history(lane, None, ADOPTED_PER_CALL_MAX):
        if view.intent.id not in names and view.result is None:
            found.problems.append(
                f"{lane} has accepted {view.intent.id}, and what is out would come after it"
            )
            return


# What becomes of it.


async def take_over(
    store: RedisStore,
    lease: Lease,
    found: AccountFound,
    report: Adoption,
    *,
    nodes: tuple[str, ...],
    at_ms: int,
) -> None:
    rows = await store.load(lease)
    head = await head_read(store, lease.lane)
    head.cursors = all_classes(rows.head.cursors)
    head.mode, head.reason, head.mode_ms = "paused", PAUSED, at_ms
    version = rows.head.version + 1
    await written(store, lease, version, Write(head_of(head), (), (), at_ms))
    await accept_all(store, lease.lane, found)
    views = await views_of(store, (one.id for one in found.out if one.id != NO_OP))
    intents: dict[str, IntentRow] = {view.intent.id: view.intent for view in views}
    touched = bound_rows(intents, found, nodes, head, lease.lane)
    for start, end in ranges_of(report.recycled).items():
        touched.append(RowPut(Table.AUX, f"{FREE}{start}", None, encode(end)))
    if report.optimistic is not None:
        head.nonce_next = head.offered_next = report.optimistic
    head.latest = report.counted or 0
    head.low = min([head.latest, *(one.nonce for one in found.out)])
    head.mode, head.reason = "running", "it was adopted"
    # As long as it counts as out of funds nothing gets a number: the account is read first.
    head.broke = head.looking = True
    head.resend_ms = at_ms
    account = account_of(store.names, lease.lane)
    assert account is not None
    store.go_along(lease.lane, await others(store, account, found, report))
    await written(store, lease, version + 1, Write(head_of(head), tuple(touched), (), at_ms))


async def accept_all(store: RedisStore, lane: LaneId, found: AccountFound) -> None:
    """What is out first, by its nonce; each id once."""
    queued = {one.id: one.queued_ms for one in reversed(found.out) if one.id != NO_OP}
    order = [name for name in dict.fromkeys(one.id for one in found.out) if name != NO_OP]
    queued |= {name: at for at, name in found.pending}
    order += [name for _, name in found.pending]
    arrivals = [
        Arrival(
            id=IntentId(name),
            lane=lane,
            payload=encode(stored_form(found.requests[name])),
            digest=b"",
            accepted_ms=queued[name],
            scope=SCOPE,
        )
        for name in order
    ]
    for part in parts(arrivals, ADOPTED_PER_CALL_MAX):
        await store.accept(part)


def bound_rows(
    intents: dict[str, IntentRow],
    found: AccountFound,
    nodes: tuple[str, ...],
    head: EoaHead,
    lane: LaneId,
) -> list[Touch]:
    """A slot for each nonce that is out, and an attempt for each of its hashes."""
    touched: list[Touch] = []
    by_nonce: dict[int, list[OutgoingHash]] = {}
    for one in found.out:
        by_nonce.setdefault(one.nonce, []).append(one)
    for nonce, hashes in sorted(by_nonce.items()):
        named = next((one for one in hashes if one.id != NO_OP), None)
        row = None if named is None else intents[named.id]
        number, head.slot_next = head.slot_next, head.slot_next + 1
        slot = Slot(
            id=number,
            intent=None if row is None else row.id,
            seq=0 if row is None else row.seq,
            priority=0,
            size=0 if row is None else row.size(),
            nonce=nonce,
            claimed_ms=hashes[0].queued_ms,
            accepted_ms=0 if row is None else row.accepted_ms,
            purpose=Purpose.NOOP if row is None else Purpose.INTENT,
            making=False,
            attempt_next=len(hashes) + 1,
            tried_ms=max(one.submitted_ms for one in hashes),
        )
        if row is not None:
            head.cursors = passed(head.cursors, 0, row.seq)
        for place, one in enumerate(hashes, FIRST):
            touched += attempt_rows(slot, place, one, nodes, lane)
    return touched


def attempt_rows(
    slot: Slot, place: int, one: OutgoingHash, nodes: tuple[str, ...], lane: LaneId
) -> list[Touch]:
    """It may have been sent, and any node may have it: no refusal frees its number. The first
    stands in its slot's row."""
    attempt = Attempt(
        slot=slot.id,
        number=place,
        hash=one.hash,
        purpose=Purpose.NOOP if one.id == NO_OP else Purpose.INTENT,
        fee=one.fee,
        gas=one.gas,
        made_ms=one.submitted_ms,
        silent=nodes if one.raw else (),
        taken=() if one.raw else nodes,
        doubted=True,
        raw=one.raw if len(one.raw) <= RAW_INLINE_MAX else b"",
    )
    rows: list[Touch] = [slot_row(slot, attempt) if place == FIRST else attempt_row(attempt)]
    if not attempt.raw:
        # Where only the hash is known the row is empty: there is nothing to offer again.
        rows.append(RowPut(Table.AUX, RAW + attempt.key(), None, one.raw))
    if slot.intent is not None:
        rows.append(Index("hash", one.hash.hex(), slot.intent, lane))
    return rows


def ranges_of(numbers: Sequence[int]) -> dict[int, int]:
    ranges = Ranges()
    for number in sorted(numbers):
        ranges.add(number)
    return ranges.rows()


def head_of(head: EoaHead) -> HeadWrite:
    return HeadWrite(head.cursors, head.settled_count, head.settled_bytes, 0, encode(head))


async def written(store: RedisStore, lease: Lease, version: int, write: Write) -> None:
    (answer,) = await store.commit([Commit(lease, version, write)])
    if isinstance(answer, LeaseLost):
        raise answer


async def others(
    store: RedisStore, account: AccountKeys, found: AccountFound, report: Adoption
) -> list[LayoutCommand]:
    """Commands that remove engine-core's entries, once our own commit has written the same."""
    hashes = {f"0x{one.hash.hex()}" for one in found.out}
    older = [
        member
        for member in await scored(store, account.submitted)
        if member.partition(":")[0] in hashes
    ]
    borrowed = [*dict.fromkeys(one.id for one in found.out)]
    used = [
        number
        for number in await scored(store, account.recycled)
        if int(number) not in report.recycled
    ]
    says: list[LayoutCommand] = [
        ("ZREM", [account.submitted], (), older),
        ("HDEL", [account.borrowed], (), borrowed),
        ("ZREM", [account.recycled], (), used),
    ]
    return [say for say in says if say[3]]
