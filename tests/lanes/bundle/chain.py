"""A small JAM chain with one rollup service, for tests of the bundle lane: blocks, forks, reports.

It keeps the rules that a builder meets (facts/jam.md §7): a package can be reported in eight blocks
behind its anchor, once; a prerequisite has to be reported in the last eight; what is available
accumulates when its prerequisites have; the service takes each block once, on its parent, and holds
early ones. Who reports what, and on which fork, is for the test to say.
"""

from collections.abc import Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from laneway.core.jam import (
    Accumulated,
    Failed,
    JamBlockRef,
    JamBlockSeen,
    JamBlocksSeen,
    JamHead,
    LineAsked,
    LineBlock,
    LineSeen,
    May,
    PackageFact,
    PackageKind,
    PackageSeen,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
    Watched,
)

RECENT = 8
HELD_MAX = 8


class Claim(Struct, frozen=True, array_like=True):
    """What a package carries, as its bytes say."""

    number: int
    parent: bytes
    block: bytes
    anchor: JamBlockRef
    prerequisites: tuple[bytes, ...]
    intents: tuple[str, ...]
    salt: int = 0


decode_claim = msgspec.msgpack.Decoder(Claim).decode


def digest(*parts: object) -> bytes:
    return sha256(repr(parts).encode()).digest()


class State(Struct, frozen=True):
    """All that the state of a block shows."""

    ref: JamBlockRef
    parent: bytes
    height: int
    reported: dict[bytes, tuple[JamBlockRef, int, int]] = {}
    """By package: in which block, at which height, on which core."""
    ready: dict[bytes, JamBlockRef] = {}
    lost: dict[bytes, JamBlockRef] = {}
    """Reported in vain: not available in time."""
    done: dict[bytes, int | str | None] = {}
    """Accumulated: its number, why it was refused, or None while the service holds it."""
    applied: tuple[tuple[int, bytes, tuple[str, ...]], ...] = ()
    """Blocks that had their effect, in order: number, hash, transactions."""

    def head(self, genesis: bytes) -> tuple[int, bytes]:
        return self.applied[-1][:2] if self.applied else (0, genesis)


class Chain:
    def __init__(self, genesis: bytes = b"", slot: int = 0, number: int = 0) -> None:
        self.genesis = genesis
        self.first = number
        root = State(JamBlockRef(digest("genesis"), slot), b"", 0)
        self.states: dict[bytes, State] = {root.ref.header_hash: root}
        self.best = root
        self.final = root
        self.packages: dict[bytes, Claim] = {}
        """All that some node was handed."""
        self.cores: dict[bytes, int] = {}
        self.orders_blocks = True

    # The builder's side.

    def hand_in(self, package_hash: bytes, encoded: bytes, core: int) -> None:
        self.packages.setdefault(package_hash, decode_claim(encoded))
        self.cores.setdefault(package_hash, core)

    # The validators' side.

    def can_report(self, package: bytes, state: State, also: Sequence[bytes] = ()) -> bool:
        """Whether a child of this state can report it."""
        claim = self.packages[package]
        if package in state.reported or package in state.done or package in state.lost:
            return False
        age = self.age(claim.anchor, state)
        if age is None or age + 1 > RECENT:
            return False
        for one in claim.prerequisites:
            found = state.reported.get(one)
            near = found is not None and state.height + 1 - found[1] <= RECENT
            if not near and one not in also:
                return False
        return True

    def age(self, anchor: JamBlockRef, state: State) -> int | None:
        """Blocks since the anchor on this fork; None: it is not on it, or too far back."""
        walk = state
        for age in range(RECENT + 1):
            if walk.ref == anchor:
                return age
            if not walk.parent:
                return None
            walk = self.states[walk.parent]
        return None

    def may_land(self, package: bytes, state: State) -> bool:
        """Whether some child of this fork can still give it an effect."""
        if package in state.done:
            return state.done[package] is None
        if package in state.lost:
            return False
        if package in state.reported:
            return all(
                one in state.done or self.may_land(one, state)
                for one in self.packages[package].prerequisites
            )
        age = self.age(self.packages[package].anchor, state)
        if age is None or age + 1 > RECENT:
            return False
        for one in self.packages[package].prerequisites:
            found = state.reported.get(one)
            near = found is not None and state.height + 1 - found[1] <= RECENT
            if one not in self.packages or (one in state.done and not near):
                return False
            if one not in state.done and not self.may_land(one, state):
                return False
        return True

    def produce(
        self,
        report: Sequence[bytes] = (),
        *,
        ready: Sequence[bytes] | None = None,
        lose: Sequence[bytes] = (),
        parent: State | None = None,
        skip: int = 0,
        is_best: bool = True,
    ) -> State:
        """A block with these reports. All earlier reports become available, or those named."""
        before = self.best if parent is None else parent
        chosen: list[bytes] = []
        for package in report:
            assert self.can_report(package, before, [*chosen, *report]), "the chain takes it"
            chosen.append(package)
        slot = before.ref.slot + 1 + skip
        name = digest(before.ref.header_hash, slot, chosen, ready, lose, len(self.states))
        ref = JamBlockRef(name, slot)
        reported = dict(before.reported)
        available = dict(before.ready)
        lost = dict(before.lost)
        for package in lose:
            assert package in reported
            assert package not in available
            lost[package] = ref
        waiting = [one for one in reported if one not in available and one not in lost]
        for package in waiting if ready is None else ready:
            available[package] = ref
        for package in chosen:
            reported[package] = (ref, before.height + 1, self.cores[package])
        state = State(
            ref, before.ref.header_hash, before.height + 1, reported, available, lost,
            dict(before.done), before.applied,
        )  # fmt: skip
        state = self.accumulate(state)
        self.states[name] = state
        if is_best:
            self.best = state
        return state

    def accumulate(self, state: State) -> State:
        done, applied = dict(state.done), list(state.applied)
        waiting = [one for one in state.ready if one not in done]
        while True:
            free = [
                one
                for one in waiting
                if one not in done and all(p in done for p in self.packages[one].prerequisites)
            ]
            if not free:
                break
            for package in free:
                self.sequence(package, done, applied)
        return msgspec.structs.replace(state, done=done, applied=tuple(applied))

    def sequence(
        self,
        package: bytes,
        done: dict[bytes, int | str | None],
        applied: list[tuple[int, bytes, tuple[str, ...]]],
    ) -> None:
        """The service's line, as in laneway.jam.service.sequencing."""
        claim = self.packages[package]
        if not self.orders_blocks:
            done[package] = None
            applied.append((claim.number, claim.block, claim.intents))
            return
        number, block = applied[-1][:2] if applied else (self.first, self.genesis)
        if any(one[1] == claim.block for one in applied):
            done[package] = "SAME_BLOCK_APPLIED"
        elif claim.number <= number:
            done[package] = "OTHER_BLOCK_APPLIED"
        elif claim.number > number + 1:
            held = [one for one, what in done.items() if what is None]
            same = any(self.packages[one].block == claim.block for one in held)
            done[package] = "SAME_BLOCK_HELD" if same else None
        elif claim.parent != block:
            done[package] = "WRONG_PARENT"
        else:
            done[package] = claim.number
            applied.append((claim.number, claim.block, claim.intents))
            for other in [one for one, what in done.items() if what is None]:
                if self.packages[other].number == claim.number + 1:
                    self.sequence(other, done, applied)

    def finalise(self, state: State | None = None, behind: int = 0) -> None:
        found = self.best if state is None else state
        for _ in range(behind):
            if found.parent:
                found = self.states[found.parent]
        if found.height > self.final.height:
            self.final = found

    # The node's side.

    def fact(self, watched: Watched, state: State) -> tuple[PackageFact, tuple[May, ...]]:
        package = watched.package_hash
        if package in state.done:
            what = state.done[package]
            if isinstance(what, str):
                number = self.packages[package].number
                return ServiceRefused(what, number), (May.WAIT,)
            return Accumulated(what), (May.WAIT,)
        if package in state.lost:
            return Failed(PackageKind.UNAVAILABLE, "too few had it"), (May.REBUILD,)
        if package in state.reported:
            ref, _, core = state.reported[package]
            if package in state.ready:
                return Ready(ref, core, b"report", state.ready[package]), (May.WAIT,)
            return Reported(ref, core, b"report"), (May.WAIT,)
        age = self.age(watched.anchor, state)
        if age is None or age >= RECENT:
            return Failed(PackageKind.ANCHOR_NOT_RECENT, "not recent"), (May.REBUILD,)
        return Reportable(RECENT - age), (May.SAME_BYTES,)

    def seen_at(self, state: State, packages: Sequence[Watched]) -> JamBlockSeen:
        seen = []
        for one in packages:
            fact, may = self.fact(one, state)
            seen.append(PackageSeen(one.package_hash, state.ref, fact, may, "node"))
        return JamBlockSeen(state.ref, state.parent, tuple(seen))

    def look(
        self,
        known: Sequence[JamBlockRef],
        packages: Sequence[Watched],
        limit: int = 64,
        line: LineAsked | None = None,
    ) -> JamBlocksSeen:
        names = {one.header_hash: one for one in known}
        walk, path = self.best, []
        while walk.ref.header_hash not in names and walk.parent:
            path.append(walk)
            walk = self.states[walk.parent]
        after = names.get(walk.ref.header_hash)
        if after is None:
            path = [self.best]
        path.reverse()
        chosen = path[:limit]
        blocks = tuple([self.seen_at(one, packages) for one in chosen])
        head = JamHead(self.best.ref, self.final.ref, "node")
        gone = tuple([one for one in known if after is None or one.slot > after.slot])
        is_whole = len(chosen) == len(path)
        final = self.line_seen(line) if line is not None and is_whole else None
        return JamBlocksSeen(after, gone, blocks, head, is_whole, final)

    def line_seen(self, asked: LineAsked) -> LineSeen:
        """The service's line after the final block."""
        state = self.final
        brought = {
            self.packages[one].block: one
            for one, what in state.done.items()
            if isinstance(what, int)
        }
        blocks = tuple(
            [
                LineBlock(number, block, brought[block])
                for number, block, _ in state.applied
                if number in asked.numbers
            ]
        )
        number, block = state.applied[-1][:2] if state.applied else (self.first, self.genesis)
        return LineSeen(state.ref, number, blocks, block)

    # Others, who build blocks of the same rollup.

    def stranger(self, *intents: str, name: str = "x") -> bytes:
        """Hand in a package of somebody else's block on the newest one of the service."""
        number, block = (
            self.best.applied[-1][:2] if self.best.applied else (self.first, self.genesis)
        )
        return self.bring(
            Claim(number + 1, block, digest("foreign", name, number), self.best.ref, (), intents)
        )

    def bring(self, claim: Claim) -> bytes:
        encoded = msgspec.msgpack.encode(claim)
        package = digest("package", encoded)
        self.hand_in(package, encoded, 0)
        return package

    # Questions.

    def line(self) -> list[str]:
        """The transactions that had an effect on the best fork, in order."""
        return [one for _, _, intents in self.best.applied for one in intents]
