"""What a package can lean on now: an anchor that is recent, and a lookup anchor that is final.

The anchor is by default the parent of the best block: the chain has a zero state root for the best
one until its child comes. Which prerequisites a package names is for its lane to say.
"""

from laneway.chains.jam.blocks import Forks
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.shapes import read_as
from laneway.core.jam import BlockRef, Context, Head, Parameters
from laneway.wire.jip2 import call, read_hash
from laneway.wire.jsonrpc import RpcError


async def read_context(node: JamNode, forks: Forks, parameters: Parameters, offset: int) -> Context:
    """`offset`: how many blocks below the best one the anchor is; 0 is the best one itself."""
    assert 0 <= offset < parameters.recent_block_count
    head = await forks.head(node)
    anchor = await forks.below(node, head.best, offset)
    lookup = await lookup_anchor(node, forks, parameters, head, anchor)
    answers = await node.ask(
        [
            call("stateRoot", anchor.header_hash),
            call("beefyRoot", anchor.header_hash),
            call("stateRoot", lookup.header_hash),
        ]
    )
    state_root, beefy_root, lookup_root = answers
    is_forgotten = isinstance(lookup_root, RpcError)
    return Context(
        anchor=anchor,
        state_root=read_as(node.name, state_root, read_hash),
        beefy_root=read_as(node.name, beefy_root, read_hash),
        lookup_anchor=lookup,
        lookup_state_root=None if is_forgotten else read_as(node.name, lookup_root, read_hash),
        head=head,
    )


async def lookup_anchor(
    node: JamNode, forks: Forks, parameters: Parameters, head: Head, anchor: BlockRef
) -> BlockRef:
    """The parent of the final block, as other builders have it; the anchor itself where that would
    be too old before the anchor is, or newer: then the anchor is final too, and a package lives no
    longer than its anchor says."""
    if head.finalised is None:
        return anchor
    lookup = await forks.below(node, head.finalised, 1)
    age_max = parameters.lookup_anchor_slots_max - parameters.recent_block_count
    is_fit = head.best.slot - age_max <= lookup.slot <= anchor.slot
    return lookup if is_fit else anchor
