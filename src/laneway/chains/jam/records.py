"""What a service wrote down of packages, in the state of one block (docs/ledger-service.md).

A look believes one node that a record is absent: it reads many of them, and nearly all are. By
itself that proves nothing, since the package is looked at again at the next block. Where it would
be a verdict, others are asked: a failure is compared with another node's records while one can be
asked (`Jip2Chain.look`), and a record that must be there, because the service's head is above it,
is looked for on the next node, as are bytes that are no record. A death that only one node of
several could speak of is believed: another version of the block has its number, and the service
takes one of the two.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from laneway.chains.jam.limits import RECORDS_PER_CALL_MAX
from laneway.chains.jam.node import JamNode, NodeLacksBlock
from laneway.chains.jam.shapes import read_as, read_optional_blob
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import (
    Accumulated,
    JamBlockRef,
    LineAsked,
    LineBlock,
    LineSeen,
    PackageFact,
    ServiceRefused,
    Watched,
)
from laneway.jam.codec import U64, Codec
from laneway.jam.errors import InvalidJam
from laneway.jam.service.commitment import (
    AUTHORIZERS,
    AUTHORIZERS_KEY,
    HEAD_KEY,
    block_key,
    package_key,
    refusal_key,
    rivals_key,
    slot_max_of,
)
from laneway.jam.service.values import (
    BLOCK_RECORD,
    HEAD,
    REFUSAL,
    RIVALS,
    NoEffectReason,
    ServiceRefusal,
)
from laneway.wire.jip2 import BLOCK_UNAVAILABLE, call, hash_in
from laneway.wire.jsonrpc import RpcAnswer, RpcCall, RpcError

T = TypeVar("T")
Found = dict[bytes, PackageFact]
"""What is known of packages, by their hashes."""


def is_record(key: bytes, raw: bytes) -> bool:
    """Whether a rollup's service may hold these bytes under this key; True of keys that are not
    common to all rollups."""
    codec = RECORDS.get((key[:1], len(key)))
    try:
        return codec is None or codec.decode(raw, "record") is not None
    except InvalidJam:
        return False


RECORDS: Mapping[tuple[bytes, int], Codec[Any]] = {
    (key[:1], len(key)): codec
    for key, codec in (
        (HEAD_KEY, HEAD),
        (AUTHORIZERS_KEY, AUTHORIZERS),
        (block_key(0), BLOCK_RECORD),
        (package_key(bytes(32)), U64),
        (refusal_key(bytes(32)), REFUSAL),
        (rivals_key(0), RIVALS),
    )
}
"""The records of every rollup, by how their keys begin and how long they are."""


async def numbers(node: JamNode, block: JamBlockRef, packages: Sequence[Watched]) -> Found:
    """The rollup blocks that packages brought."""
    wanted = [(one.service, package_key(one.package_hash)) for one in packages]
    records = await _records(node, block, wanted, U64, "package record")
    return {
        one.package_hash: Accumulated(number)
        for one, number in zip(packages, records, strict=True)
        if number is not None
    }


async def refusals(node: JamNode, block: JamBlockRef, packages: Sequence[Watched]) -> Found:
    wanted = [(one.service, refusal_key(one.package_hash)) for one in packages]
    records: list[ServiceRefusal | None] = await _records(node, block, wanted, REFUSAL, "refusal")
    return {
        one.package_hash: ServiceRefused(refusal.reason.name.lower(), refusal.number)
        for one, refusal in zip(packages, records, strict=True)
        if refusal is not None
    }


async def held(node: JamNode, block: JamBlockRef, service: int, count: int) -> Found | None:
    """Packages that came before their parent and wait for it, or waited too long: a service records
    that only when the number is touched next. None if it keeps no chain of blocks.

    Under which number a package is held is not known here, so `count` of them are read after the
    head; there are no others after EARLY_COUNT_MAX."""
    (head,) = await _records(node, block, [(service, HEAD_KEY)], HEAD, "head")
    if head is None:
        return None
    first = head.number + 2
    wanted = [(service, rivals_key(number)) for number in range(first, first + count)]
    records = await _records(node, block, wanted, RIVALS, "held blocks")
    found: Found = {}
    for rival in (rival for rivals in records for rival in rivals or ()):
        if block.slot < slot_max_of(rival):
            found[rival.package_hash] = Accumulated(None)
        else:
            expired = ServiceRefused(NoEffectReason.EXPIRED.name.lower(), rival.claim.number)
            found[rival.package_hash] = expired
    return found


async def read_line(node: JamNode, at: JamBlockRef, asked: LineAsked) -> LineSeen | None:
    """The line of a service after this block; None if it has none there."""
    (head,) = await _records(node, at, [(asked.service, HEAD_KEY)], HEAD, "head")
    if head is None:
        return None
    numbers = [number for number in asked.numbers if 0 < number <= head.number]
    wanted = [(asked.service, block_key(number)) for number in numbers]
    records = await _records(node, at, wanted, BLOCK_RECORD, "block record")
    blocks: list[LineBlock] = []
    for number, record in zip(numbers, records, strict=True):
        if record is None:
            problem = f"service {asked.service} is at block {head.number}, and has no {number}"
            raise ChainUnreadable(node.name, problem)
        blocks.append(LineBlock(number, record.block, record.package_hash))
    return LineSeen(at, head.number, tuple(blocks), head.block)


async def _records(
    node: JamNode,
    block: JamBlockRef,
    wanted: Sequence[tuple[int, bytes]],
    codec: Codec[T],
    what: str,
) -> list[T | None]:
    """The values of keys of services; NodeLacksBlock when the node has not this state."""
    calls = [call("serviceValue", block.header_hash, *one) for one in wanted]
    answers = await ask_some(node, calls)
    for answer in answers:
        if isinstance(answer, RpcError) and answer.code == BLOCK_UNAVAILABLE:
            raise NodeLacksBlock(node.name, block.header_hash, hash_in(answer))
    raws = [read_as(node.name, answer, read_optional_blob) for answer in answers]
    try:
        return [None if raw is None else codec.decode(raw, what) for raw in raws]
    except InvalidJam as error:
        raise ChainUnreadable(node.name, f"a record of a service: {error}") from error


async def ask_some(node: JamNode, calls: Sequence[RpcCall]) -> list[RpcAnswer]:
    """Any number of calls, in portions that a slow node answers in time."""
    answers: list[RpcAnswer] = []
    for begin in range(0, len(calls), RECORDS_PER_CALL_MAX):
        answers += await node.ask(calls[begin : begin + RECORDS_PER_CALL_MAX])
    return answers
