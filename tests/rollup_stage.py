"""Transfers of a ledger rollup, a judge that reads them back from the chain, and one that watches
what is handed in.

The judge believes neither lane nor builder: it reads the service's records and the blocks that
their packages export, byte by byte as docs/ledger-service.md has them, and carries the transfers
out with a dictionary. The watch keeps every submission that reaches the chain, and says so when a
package was submitted while another one with the same transfers could still land.
"""

import struct
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from random import Random
from typing import Any, NamedTuple

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.tree import TreeEntry
from laneway.devnets.jam.model.values import SubmissionRefusal
from laneway.jam.package import WORK_PACKAGE, package_hash
from laneway.jam.state_keys import storage_key
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.transfer import TRANSFER, signed

Say = Callable[..., Any]
"""One call of JIP-2, past every adapter."""

HEADER_BYTES = 177
TRANSFER_BYTES = 144
RECEIPT_BYTES = 33
SEGMENT_BYTES = 4_104
RECENT_BLOCKS = 8
BESTS_KEPT = 64
SETTLING_SLOTS = 2
"""A builder that looked at the chain, and submitted by what it saw, is not older than that."""


# Transfers.


class Purse:
    """Makes transfers of the known accounts; each is another one, with its sender's next nonce."""

    def __init__(self, genesis: bytes, seed: int = 0, *, senders: int = 5) -> None:
        self._domain = Domain(genesis, ROLLUP_SERVICE_DEV)
        self._random = Random(seed)
        self._senders = DEV_ACCOUNTS[:senders]
        self._keys = [one.key for one in self._senders]
        self._nonces = [0] * senders
        self.made: list[bytes] = []
        """As they are handed in, in their order."""

    def transfer(self) -> bytes:
        place = self._random.randrange(len(self._senders))
        # Some pay accounts that are not in the state yet.
        strangers = [blake2b(bytes([n]), digest_size=32).digest() for n in range(3)]
        recipient = self._random.choice([*(one.id for one in DEV_ACCOUNTS), *strangers])
        made = signed(
            self._keys[place],
            self._domain,
            recipient=recipient,
            amount=self._random.randrange(1, 1_000),
            nonce=self._nonces[place],
        )
        self._nonces[place] += 1
        self.made.append(TRANSFER.encode(made))
        return self.made[-1]

    def transfers(self, count: int) -> list[bytes]:
        return [self.transfer() for _ in range(count)]


# What is on the chain.


class Applied(NamedTuple):
    """A rollup block that had its effect."""

    number: int
    package: bytes
    block: bytes
    parent: bytes
    pre_root: bytes
    post_root: bytes
    transfers: tuple[bytes, ...]
    receipts: tuple[bytes, ...]


class Audit(NamedTuple):
    problems: list[str]
    blocks: list[Applied]
    total: int
    """Transfers in all of them."""
    accounts: dict[bytes, tuple[int, int]]
    """Balance and nonce of each, by the dictionary."""


class Judge:
    """Made before the first rollup block is applied, for it begins with what the ledger had."""

    def __init__(self, say: Say) -> None:
        self._say = say
        head = self._head()
        assert head.number == 0, "the judge came too late"
        self._genesis = head.block
        self._balances: dict[bytes, int] = {}
        raw = self._value(b"g")
        count, at = natural(raw, 0)
        for place in range(count):
            account = raw[at + 40 * place : at + 40 * place + 40]
            self._balances[account[:32]] = int.from_bytes(account[32:], "little")
        assert merkle_root(states(self._balances, {})) == head.root

    def height(self) -> int:
        """How many blocks had their effect, in final blocks of the chain."""
        return self._head().number

    def audit(self, wanted: Sequence[bytes]) -> Audit:
        """Whether exactly these transfers had their effect, once each, in a line of blocks that
        leaves what a dictionary says."""
        blocks = [self._applied(number) for number in range(1, self.height() + 1)]
        problems = [*self._line(blocks), *counted(blocks, wanted)]
        balances, nonces = dict(self._balances), dict[bytes, int]()
        for one in blocks:
            if merkle_root(states(balances, nonces)) != one.pre_root:
                problems.append(f"block {one.number} is on another state")
            for transfer, receipt in zip(one.transfers, one.receipts, strict=True):
                status = carry_out(transfer, balances, nonces)
                if receipt != digest(transfer) + bytes([status]):
                    problems.append(f"block {one.number} has a receipt {receipt.hex()}")
                if status:
                    problems.append(f"block {one.number} holds a transfer with status {status}")
            if merkle_root(states(balances, nonces)) != one.post_root:
                problems.append(f"block {one.number} leaves another state")
        if sum(balances.values()) != sum(self._balances.values()):
            problems.append("money came from nowhere, or went there")
        head = self._head()
        if head.root != merkle_root(states(balances, nonces)):
            problems.append("the service's own head has another state")
        accounts = {one: (balance, nonces.get(one, 0)) for one, balance in balances.items()}
        return Audit(problems, blocks, sum(len(one.transfers) for one in blocks), accounts)

    def _line(self, blocks: Sequence[Applied]) -> list[str]:
        problems: list[str] = []
        parent = self._genesis
        for one in blocks:
            if one.parent != parent:
                problems.append(f"block {one.number} is not on the one before it")
            parent = one.block
            record = self._value(b"w" + one.package)
            if record != one.number.to_bytes(8, "little"):
                problems.append(f"the package of block {one.number} is said to have brought other")
        if len({one.package for one in blocks}) != len(blocks):
            problems.append("a package brought two blocks")
        return problems

    def _applied(self, number: int) -> Applied:
        raw = self._value(b"b" + number.to_bytes(8, "little"))
        package, block = raw[:32], raw[64:96]
        body = self._body(package)
        header = body[:HEADER_BYTES]
        assert digest(header) == block, f"block {number} is not what its record says"
        form, said, parent, _, pre, post = struct.unpack_from("<BQ32sI32s32s", header)
        assert (form, said) == (1, number)
        transfers, at = items(body, HEADER_BYTES, TRANSFER_BYTES)
        receipts, at = items(body, at, RECEIPT_BYTES)
        assert at == len(body)
        return Applied(number, package, block, parent, pre, post, transfers, receipts)

    def _body(self, package: bytes) -> bytes:
        """What a package exports, without its length before and the zeros behind it."""
        (first,) = self._segments(package, [0])
        (size,) = struct.unpack_from("<I", first)
        rest = range(1, -(-(size + 4) // SEGMENT_BYTES))
        whole = first + b"".join(self._segments(package, list(rest)) if rest else ())
        return whole[4 : 4 + size]

    def _segments(self, package: bytes, indices: list[int]) -> list[bytes]:
        said = self._say("fetchWorkPackageSegments", text(package), indices)
        return [b64decode(one) for one in said]

    def _value(self, key: bytes) -> bytes:
        at = self._say("finalizedBlock")["header_hash"]
        said = self._say("serviceValue", at, ROLLUP_SERVICE_DEV, text(key))
        assert said is not None, f"the service has nothing under {key!r}"
        return b64decode(said)

    def _head(self) -> "LedgerHead":
        number, block, root, _ = struct.unpack("<Q32s32sI", self._value(b"h"))
        return LedgerHead(number, block, root)


class LedgerHead(NamedTuple):
    number: int
    block: bytes
    root: bytes


def counted(blocks: Sequence[Applied], wanted: Sequence[bytes]) -> list[str]:
    """Each transfer once."""
    found = Counter(transfer for one in blocks for transfer in one.transfers)
    known = set(wanted)
    twice = [one for one, count in found.items() if count > 1]
    lost = [one for one in wanted if one not in found]
    foreign = [one for one in found if one not in known]
    problems: list[str] = []
    for what, those in (("twice", twice), ("lost", lost), ("foreign", foreign)):
        if those:
            problems.append(f"{what}: {len(those)}, first {digest(those[0]).hex()}")
    return problems


def carry_out(transfer: bytes, balances: dict[bytes, int], nonces: dict[bytes, int]) -> int:
    """Its status. Its signature is not looked at: the bytes are those that were handed in."""
    key, payee = transfer[:32], transfer[32:64]
    amount, nonce = struct.unpack_from("<QQ", transfer, 64)
    payer = digest(b"jamroll-ledger-account/1" + key)
    if nonces.get(payer, 0) != nonce:
        return 2
    nonces[payer] = nonce + 1
    if amount == 0:
        return 3
    if balances.get(payer, 0) < amount:
        return 4
    balances[payer] -= amount
    balances[payee] = balances.get(payee, 0) + amount
    return 0


def states(balances: Mapping[bytes, int], nonces: Mapping[bytes, int]) -> dict[bytes, bytes]:
    """Key and value of each account."""
    return {
        digest(one)[:31]: struct.pack("<QQ", balance, nonces.get(one, 0))
        for one, balance in balances.items()
    }


def merkle_root(values: Mapping[bytes, bytes], depth: int = 0) -> bytes:
    """Of the Gray Paper's state trie (0.7.2, appendix D), for values of at most 32 bytes."""
    if not values:
        return bytes(32)
    if len(values) == 1:
        ((key, value),) = values.items()
        return digest(bytes([0x80 | len(value)]) + key + value.ljust(32, b"\0"))
    sides: list[dict[bytes, bytes]] = [{}, {}]
    for key, value in values.items():
        sides[key[depth // 8] >> (7 - depth % 8) & 1][key] = value
    left, right = (merkle_root(side, depth + 1) for side in sides)
    return digest(bytes([left[0] & 0x7F]) + left[1:] + right)


def items(raw: bytes, at: int, size: int) -> tuple[tuple[bytes, ...], int]:
    count, at = natural(raw, at)
    end = at + count * size
    return tuple(raw[one : one + size] for one in range(at, end, size)), end


def natural(raw: bytes, at: int) -> tuple[int, int]:
    """A compact natural below 2**14, and where it ends."""
    first = raw[at]
    assert first < 0xC0
    return (first, at + 1) if first < 0x80 else ((first & 0x3F) << 8 | raw[at + 1], at + 2)


def digest(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=32).digest()


def text(raw: bytes) -> str:
    return b64encode(raw).decode()


# What is handed in.


class Handed(NamedTuple):
    """One package, as it was handed in first."""

    package: bytes
    number: int
    block: bytes
    parent: bytes
    anchor: bytes
    lookup_slot: int
    prerequisites: tuple[bytes, ...]
    transfers: frozenset[bytes]
    slot: int
    node: int


class Submitted(NamedTuple):
    package: bytes
    node: int
    slot: int
    is_taken: bool


class Watch:
    """Sees each submission before the chain does."""

    def __init__(self, devnet: JamDevnet) -> None:
        self._model = devnet.model
        self.packages: dict[bytes, Handed] = {}
        self.submissions: list[Submitted] = []
        self.problems: list[str] = []
        self.heard: Callable[[int], None] | None = None
        """Told of each submission, by its node."""
        self._taken: set[bytes] = set()
        self._bests: list[tuple[int, int, bytes]] = []
        """Slots, and the block that was the best one then for each node."""
        self._reported: dict[bytes, list[bytes]] = {}
        """The blocks that report a package, on any fork."""
        self._submit = self._model.submit
        self._model.submit = self._noted  # type: ignore[method-assign]
        make = self._model._make

        def made(*given: Any, **named: Any) -> Any:
            entry = make(*given, **named)
            for one in entry.made.reported:
                self._reported.setdefault(one.package_hash, []).append(entry.hash)
            self._look()
            return entry

        self._model._make = made  # type: ignore[method-assign]

    def versions(self, number: int) -> list[Handed]:
        """Of one rollup block, in the order in which they came."""
        return [one for one in self.packages.values() if one.number == number]

    def again(self) -> int:
        """Packages of a block that had another one before."""
        return len(self.packages) - len({one.number for one in self.packages.values()})

    def reports(self, package: bytes) -> list[bytes]:
        return self._reported.get(package, [])

    def _noted(
        self, node: int, core: int, package: bytes, extrinsics: Sequence[bytes] = ()
    ) -> SubmissionRefusal | None:
        if self.heard is not None:
            self.heard(node)
        handed = read(package, extrinsics, node, self._model.slot)
        if handed.package not in self.packages:
            self._check(handed)
            self.packages[handed.package] = handed
        refusal = self._submit(node, core, package, extrinsics)
        if refusal is None:
            self._taken.add(handed.package)
        self.submissions.append(
            Submitted(handed.package, node, self._model.slot, is_taken=refusal is None)
        )
        return refusal

    def _check(self, new: Handed) -> None:
        """All that hold one of its transfers, or are for its number, must be dead by now."""
        for old in self.packages.values():
            is_rival = old.number == new.number or not old.transfers.isdisjoint(new.transfers)
            if is_rival and old.package in self._taken and not self.was_dead(old, new.node):
                self.problems.append(
                    f"slot {self._model.slot}: a package of block {new.number} was submitted while "
                    f"{old.package.hex()[:8]} of slot {old.slot} could land"
                )

    def _look(self) -> None:
        """What each node takes for the best chain."""
        for node in range(self._model.setup.nodes):
            found = (self._model.slot, node, self._model.best(node).header_hash)
            if found not in self._bests:
                self._bests.append(found)
        del self._bests[:-BESTS_KEPT]

    def was_dead(self, old: Handed, node: int) -> bool:
        """Whether it could not land on the best chain, as the node has it or had it just now."""
        self._look()
        oldest = self._model.slot - SETTLING_SLOTS
        return any(
            self.is_dead(old, best)
            for slot, seen_by, best in self._bests
            if slot >= oldest and seen_by == node
        )

    def is_dead(self, old: Handed, best: bytes) -> bool:
        """On the fork of this block: refused by its service, lost for want of shards, too old and
        never reported, waiting for a package that is dead, or on a block that never will be."""
        tree = self._model._tree
        head = tree.get(best)
        if head is None:
            return False
        if self._is_refused(old, head) or self._is_baseless(old, head):
            return True
        line = {one.hash: one for one in tree.lineage(head)}
        if any(old.package in one.made.timed_out for one in line.values()):
            return True
        if any(one in line for one in self.reports(old.package)):
            return self._is_orphan(old, best)
        anchor = tree.get(old.anchor)
        if anchor is not None and anchor.slot > head.slot:
            return False  # This block was the best one before the package was made.
        if anchor is None or anchor.hash not in line:
            return True
        if head.number - anchor.number >= RECENT_BLOCKS:
            return True
        lookup_slots = self._model.spec.lookup_anchor_slots_max
        return head.slot - old.lookup_slot > lookup_slots or self._is_orphan(old, best)

    def _is_refused(self, old: Handed, head: TreeEntry) -> bool:
        """By the service, which was given it."""
        return head.state.trie.get(storage_key(ROLLUP_SERVICE_DEV, b"x" + old.package)) is not None

    def _is_baseless(self, old: Handed, head: TreeEntry) -> bool:
        """The block that it stands on was handed in, in versions that are all dead: its service
        takes no block without its parent."""
        key = b"b" + (old.number - 1).to_bytes(8, "little")
        applied = head.state.trie.get(storage_key(ROLLUP_SERVICE_DEV, key))
        if applied is not None:
            return applied[64:96] != old.parent
        parents = [one for one in self.packages.values() if one.block == old.parent]
        return bool(parents) and all(self.is_dead(one, head.hash) for one in parents)

    def _is_orphan(self, old: Handed, best: bytes) -> bool:
        """It names a package that will never accumulate."""
        head = self._model._tree.get(best)
        assert head is not None
        named = [self.packages[one] for one in old.prerequisites if one in self.packages]
        return any(self.is_dead(one, best) and not self._is_refused(one, head) for one in named)


def read(package: bytes, extrinsics: Sequence[bytes], node: int, slot: int) -> Handed:
    found = WORK_PACKAGE.decode(package, "package")
    (item,) = found.items
    header = item.payload
    _, number, parent = struct.unpack_from("<BQ32s", header)
    transfers, _ = items(extrinsics[0], 0, TRANSFER_BYTES)
    return Handed(
        package=package_hash(found),
        number=number,
        block=digest(header),
        parent=parent,
        anchor=found.context.anchor,
        lookup_slot=found.context.lookup_anchor_slot,
        prerequisites=found.context.prerequisites,
        transfers=frozenset(transfers),
        slot=slot,
        node=node,
    )
