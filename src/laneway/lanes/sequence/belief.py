"""What a lane believes of its account and its chain: what a majority of its nodes shows.

What each node showed last stands in the lane. A height counts up to a pace: blocks come no faster
than `block_ms`, so that a node whose heights climb without time passing ends nothing.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.majority import agreed, final_quorum, look_quorum, reached, reached_by
from laneway.lanes.sequence.limits import AHEAD_BLOCKS_MAX, LAG_BLOCKS_MAX, LEAD_BLOCKS_MAX
from laneway.lanes.sequence.rows import Node, SequenceHead
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.lanes.sequence.values import AccountSeen


class BlockPace(Struct, frozen=True):
    """A block that a majority showed, and when: those above it come one a `block_ms`."""

    height: int
    at_ms: int

    def limit(self, now_ms: int, block_ms: int) -> int:
        """The highest block that is believed at this time."""
        return self.height + elapsed_blocks(self, now_ms, block_ms) + AHEAD_BLOCKS_MAX


class Belief(Struct, frozen=True):
    """What the nodes show together; those with another first block show nothing."""

    need: int
    nodes: tuple[Node, ...]
    """Those that are configured."""
    sequence: int | None
    """A majority shows the account at this sequence or above; None: too few show it, or the account
    was never read and too few show this sequence or below."""
    sequence_height: int
    """The highest block of those who show it."""
    number: int | None
    """The account's number, where a majority says the same."""
    is_missing: bool
    """A majority says that there is no such account."""
    read_ms: int
    """A majority was read since then."""
    height: int
    """The newest block, for the bytes that are made next."""
    proven: int
    """A majority is at this block or above."""
    pace: BlockPace
    limit: int
    origin_height: int
    origin: bytes
    """The first block that the chain is known by."""
    now_ms: int
    block_ms: int

    def is_over(self, sequence: int, timeout_height: int, made: BlockPace | None = None) -> bool:
        """Whether a majority of nodes, each above the last block for these bytes, still counts the
        account below them. A node's height runs ahead of its account by one. Heights count as far
        as the pace allows, or as many blocks as may have come since the bytes were made: on a chain
        with faster blocks than `block_ms` the pace stays ever farther below."""
        limit = self.limit
        if made is not None and made.height:
            since = elapsed_blocks(made, self.now_ms, self.block_ms)
            limit = max(limit, made.height + since)
        shown = [
            node.sequence is not None
            and node.sequence <= sequence
            and min(node.height, limit) > timeout_height
            for node in self.nodes
        ]
        return sum(shown) >= self.need


def believed(
    head: SequenceHead, settings: SequenceSettings, nodes: Iterable[Node], now_ms: int
) -> Belief:
    """From how the nodes stand after a look."""
    block_ms, need = settings.block_ms, final_quorum(len(settings.nodes))
    live = tuple([node for node in nodes if not node.gone])
    seen = [node for node in live if node.seen_ms and not is_alien(head, node)]
    shown = [node for node in seen if node.sequence is not None]
    sequence = reached_by([node.sequence or 0 for node in shown], need)
    if head.sequence_next is None and not is_unpassed(shown, sequence, need):
        sequence = None
    highest = [node.height for node in shown if (node.sequence or 0) >= (sequence or 0)]
    claimed = reached_by([node.height for node in seen], need)
    since_ms = min([node.seen_ms for node in seen if node.height == claimed], default=now_ms)
    pace = paced(head, claimed, since_ms, block_ms)
    limit = pace.limit(now_ms, block_ms)
    bounded = [min(node.height, limit) for node in seen]
    newest = 0
    if claimed is not None:
        # Half of the nodes are there: bytes for the block of one that lags would be born dead.
        present = reached([node.height for node in seen], look_quorum(len(settings.nodes)))
        newest = max([claimed, min(present, claimed + LEAD_BLOCKS_MAX), *bounded])
    origin = (head.origin_height, head.origin)
    if not head.origin:
        firsts = [(node.origin_height, node.origin) for node in seen if node.origin]
        origin = agreed(firsts, need) or origin
    return Belief(
        need=need,
        nodes=live,
        sequence=sequence,
        # What a majority claims, where the chain is faster than its pace: below it a node that lags
        # would seem to take the sequence back.
        sequence_height=min(max(highest, default=0), max(limit, claimed or 0)),
        number=agreed([node.number for node in shown], need),
        is_missing=sum([node.sequence is None for node in seen]) >= need,
        read_ms=reached_by([node.seen_ms for node in seen], need) or 0,
        height=steady(head.height, newest),
        proven=reached_by(bounded, need) or 0,
        pace=pace,
        limit=limit,
        origin_height=origin[0],
        origin=origin[1],
        now_ms=now_ms,
        block_ms=block_ms,
    )


def is_unpassed(shown: Iterable[Node], sequence: int | None, need: int) -> bool:
    """Whether a majority has not passed this sequence. The first number has to be such a one: a
    node that lags shows one that is used, and nothing else that is known says so."""
    return sum([(node.sequence or 0) <= (sequence or 0) for node in shown]) >= need


def believed_anew(
    head: SequenceHead, settings: SequenceSettings, nodes: Iterable[Node], now_ms: int
) -> Belief:
    """The same without anything that was believed before, the chain itself included."""
    forgot = replace(head, height=0, pace_height=0, pace_ms=0, origin_height=0, origin=b"")
    return believed(forgot, settings, nodes, now_ms)


def is_alien(head: SequenceHead, node: Node) -> bool:
    """Whether it has another first block than this lane's chain; what it shows says nothing."""
    is_known = bool(head.origin and node.origin) and node.origin_height == head.origin_height
    return is_known and node.origin != head.origin


def seen_at(belief: Belief, sequence: int, number: int, height: int) -> AccountSeen:
    """What is believed from now on; `height` is the highest block that showed the sequence."""
    return AccountSeen(
        sequence,
        number,
        belief.height,
        belief.read_ms,
        pace_height=belief.pace.height,
        pace_ms=belief.pace.at_ms,
        sequence_height=height,
        origin_height=belief.origin_height,
        origin=belief.origin,
    )


def contradiction(head: SequenceHead, belief: Belief) -> str:
    """How a majority takes back what was believed: they serve another chain, or show a lower
    sequence and do not merely lag. Empty: it does not."""
    aliens = [node for node in belief.nodes if is_alien(head, node)]
    if len(aliens) >= belief.need:
        shown = ", ".join([f"{node.name} has {node.origin.hex()}" for node in aliens])
        return (
            f"the nodes serve another chain: its block {head.origin_height} was "
            f"{head.origin.hex()}, {shown}"
        )
    lower = [node for node in belief.nodes if node.seen_ms and is_lower(head, node)]
    if len(lower) < belief.need:
        return ""
    shown = ", ".join(
        [
            f"{node.name} shows {account_text(node.sequence)} at block {node.height}"
            for node in lower
        ]
    )
    return (
        f"the account was at sequence {head.committed} at block {head.committed_height}, and now "
        f"{shown}"
    )


def is_lower(head: SequenceHead, node: Node) -> bool:
    """Whether it shows a lower sequence than is believed, at a block above those that showed it, or
    so far below that it does not only lag."""
    is_above = node.height > head.committed_height + AHEAD_BLOCKS_MAX
    is_far = node.height + LAG_BLOCKS_MAX < head.height
    return (node.sequence or 0) < head.committed and (is_above or is_far)


def account_text(sequence: int | None) -> str:
    return "no account" if sequence is None else f"sequence {sequence}"


def paced(head: SequenceHead, claimed: int | None, since_ms: int, block_ms: int) -> BlockPace:
    """The pace after a majority claimed this block at that time; it rises no faster than blocks
    come, and the first is believed as it is."""
    pace = BlockPace(head.pace_height, head.pace_ms)
    if claimed is None:
        return pace
    if not pace.at_ms or claimed + LAG_BLOCKS_MAX < pace.height:
        return BlockPace(claimed, since_ms)
    reach = pace.height + elapsed_blocks(pace, since_ms, block_ms)
    if claimed > reach:
        at_ms = min(since_ms, pace.at_ms + (reach - pace.height) * block_ms)
        return BlockPace(reach, at_ms)  # At the earlier one: a clock may be set back.
    return BlockPace(claimed, since_ms) if claimed > pace.height else pace


def elapsed_blocks(pace: BlockPace, now_ms: int, block_ms: int) -> int:
    return max(0, now_ms - pace.at_ms) // block_ms


def steady(known: int, newest: int) -> int:
    """A node that lags takes nothing back; one that is far below does."""
    return known if newest <= known <= newest + LAG_BLOCKS_MAX else newest
