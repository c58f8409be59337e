"""Logs: what a caller asks of them, and which of them blocks hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from laneway.devnets.evm.limits import LOG_PLACES_MAX, LOG_TOPICS_MAX, LOGS_COUNT_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.node.parameters import (
    address_of,
    digest_of,
    number_of,
    octets_of,
    rows_of,
    wrong,
)
from laneway.devnets.evm.node.views import log_of
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.trie.tree import EMPTY_ROOT
from laneway.wire.rpc_server.methods import Json, RpcRefused

UNKNOWN_BLOCK: Final = -32000
HISTORY_PRUNED: Final = 4444
"""EIP-4444's, of blocks that a node has not."""
NEWEST_TAGS = ("latest", "pending")
FINAL_TAGS = ("safe", "finalized")
TAGS = (*NEWEST_TAGS, *FINAL_TAGS, "earliest")


class LogCriteria(Struct, frozen=True, kw_only=True):
    """Which logs are asked for; None leaves it open."""

    addresses: frozenset[bytes] | None = None
    topics: tuple[frozenset[bytes] | None, ...] = ()
    """By place. A log fits that has more."""
    first: object = None
    last: object = None
    """Numbers or tags."""
    digest: bytes | None = None
    """Of the one block that is asked for."""

    def fits(self, log: EvmLog) -> bool:
        if self.addresses is not None and log.address not in self.addresses:
            return False
        if len(self.topics) > len(log.topics):
            return False
        pairs = zip(log.topics, self.topics, strict=False)
        return all(wanted is None or topic in wanted for topic, wanted in pairs)

    def covers(self, block: EvmBlock) -> bool:
        """Whether a block that is new now is in the range."""
        if self.digest is not None:
            return block.hash == self.digest
        return bound_of(self.first, 0) <= block.number <= bound_of(self.last, block.number)


def criteria_of(value: object) -> LogCriteria:
    fields = value
    if not isinstance(fields, Mapping):
        raise wrong("invalid type, expected a map")
    first, last = fields.get("fromBlock"), fields.get("toBlock")
    digest = fields.get("blockHash")
    if digest is not None and (first is not None or last is not None):
        problem = "cannot specify both blockHash and fromBlock/toBlock, choose one or the other"
        raise wrong(problem)
    for named in (first, last):
        bound_of(named, 0)
    topics = rows_of(fields.get("topics") or [])
    if len(topics) > LOG_TOPICS_MAX:
        raise wrong("exceeded maximum topics len")
    return LogCriteria(
        addresses=places_of(fields.get("address"), address_of),
        topics=tuple([places_of(one, digest_of) for one in topics]),
        first=first,
        last=last,
        digest=None if digest is None else octets_of(digest, 32),
    )


def places_of(value: object, kind: Callable[[object], bytes]) -> frozenset[bytes] | None:
    """What an entry takes: one or several of a kind; None, or null among them, for all."""
    values = value if isinstance(value, list) else [value]
    if len(values) > LOG_PLACES_MAX:
        raise wrong(f"at most {LOG_PLACES_MAX} at one place")
    return None if None in values or not values else frozenset([kind(one) for one in values])


def bound_of(named: object, newest: int, final: int = 0) -> int:
    """The number of a block that is named, without a name the newest."""
    if named is None or named in NEWEST_TAGS:
        return newest
    if named in FINAL_TAGS:
        return final
    return 0 if named == "earliest" else number_of(named)


def check_kept(chain: EvmModel, number: int) -> None:
    if number < chain.first_number:
        raise RpcRefused(HISTORY_PRUNED, "pruned history unavailable")


def check_content(block: EvmBlock) -> None:
    """Of the block that a chain goes on from the header alone may be known."""
    roots = EMPTY_ROOT if block.header is None else block.header.transactions_root
    if not block.transactions and roots != EMPTY_ROOT:
        raise RpcRefused(HISTORY_PRUNED, "pruned history unavailable")


def asked_logs(chain: EvmModel, node: int, criteria: LogCriteria) -> list[Json]:
    """All that a node's chain holds of them."""
    found: list[Json] = []
    for block in asked_blocks(chain, node, criteria):
        found += block_logs(chain, block, criteria)
        check_count(found)
    return found


def check_count(found: Sequence[object]) -> None:
    if len(found) > LOGS_COUNT_MAX:
        raise wrong(f"query returned more than {LOGS_COUNT_MAX} results")


def asked_blocks(chain: EvmModel, node: int, criteria: LogCriteria) -> Iterator[EvmBlock]:
    if criteria.digest is not None:
        block = chain.block_by_hash(node, criteria.digest)
        if block is None:
            raise RpcRefused(UNKNOWN_BLOCK, "unknown block")
        check_content(block)
        yield block
        return
    height = chain.head(node).number
    final = chain.final_number
    first, last = bound_of(criteria.first, height, final), bound_of(criteria.last, height, final)
    if chain.rules.reads_as_geth:
        if first > last:
            raise wrong("invalid block range params")
        if last > height:
            raise wrong("block range extends beyond current head block")
    elif first > height:
        raise wrong(f"BlockOutOfRangeError: block height is {height} but requested was {first}")
    check_kept(chain, first)
    for number in range(first, min(last, height) + 1):
        block = chain.block(node, number)
        assert block is not None, "the head is above it"
        check_content(block)
        yield block


def block_logs(
    chain: EvmModel, block: EvmBlock, criteria: LogCriteria, *, removed: bool = False
) -> list[Json]:
    """Those of one block, which may have left the chain."""
    found = []
    for receipt in chain.receipts_of(block):
        for index, log in enumerate(receipt.logs, receipt.log_first):
            if criteria.fits(log):
                found.append(log_of(log, receipt, block, index, removed=removed))
    return found


def fresh_blocks(chain: EvmModel, old: EvmBlock, new: EvmBlock) -> Sequence[EvmBlock]:
    """What a node shows that it did not before, oldest first; nothing where it was set back."""
    return path(chain, old, new)[1]


def path(
    chain: EvmModel, old: EvmBlock, new: EvmBlock
) -> tuple[Sequence[EvmBlock], Sequence[EvmBlock]]:
    """The blocks that a node shows no more, and those that it did not show before, each oldest
    first."""
    gone: list[EvmBlock] = []
    fresh: list[EvmBlock] = []
    while new is not old:
        if new.number >= old.number:
            fresh.append(new)
            new = chain.parent(new)
        else:
            gone.append(old)
            old = chain.parent(old)
    return gone[::-1], fresh[::-1]


def changed_logs(
    chain: EvmModel, old: EvmBlock, new: EvmBlock, criteria: LogCriteria
) -> list[Json]:
    """What a follower of logs is shown when a node's head moves. Only as geth reads them are those
    shown again that a reorganisation took back."""
    gone, fresh = path(chain, old, new)
    shown: list[Json] = []
    for blocks, removed in ((gone if chain.rules.reads_as_geth else (), True), (fresh, False)):
        for block in blocks:
            if criteria.covers(block):
                shown += block_logs(chain, block, criteria, removed=removed)
    return shown
