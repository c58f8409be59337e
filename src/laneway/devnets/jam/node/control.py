"""Methods that move a devnet, or show what no real node shows; their names begin with dev_.

Those that the dev network on a real state transition has too (`tests/typeberry`) have its names and
its shapes.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import to_builtins

from laneway.devnets.jam.limits import FAULT_SLOTS_MAX, FAULT_VALUES_COUNT_MAX
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import BlockUnavailable, Descriptor
from laneway.devnets.jam.node import views
from laneway.devnets.jam.node.caller import JamCaller
from laneway.devnets.jam.node.methods import of_model
from laneway.devnets.jam.node.parameters import any_of, below, fields, hash_, index, number, wrong
from laneway.devnets.jam.node.switches import FAULT_METHODS
from laneway.jam.votes import justification_codec
from laneway.wire.jip2 import blob as text
from laneway.wire.rpc_server.methods import Json, Method

depth: Final = below(FAULT_SLOTS_MAX)
cores: Final = any_of(index, FAULT_VALUES_COUNT_MAX)


def all_or_cores(value: object) -> object:
    return value if isinstance(value, bool) else cores(value)


wishes: Final = fields(
    slot=number, parent=hash_, variant=index, noGuarantee=all_or_cores, noAssure=cores
)


def produce(caller: JamCaller, wished: Mapping[str, Any] | None = None) -> Json:
    """Make the next block, on the best one or on the parent that was asked for."""
    wished = wished or {}
    withheld, named = wished.get("noGuarantee", False), wished.get("parent")
    if isinstance(withheld, bool):
        withheld = range(caller.model.spec.core_count) if withheld else ()
    parent = (
        None if named is None else Descriptor(named, caller.model.made(caller.node, named).slot)
    )
    done = caller.host.produce(
        wished.get("slot"),
        parent=parent,
        variant=wished.get("variant", 0),
        withheld_cores=withheld,
        unassured_cores=wished.get("noAssure", ()),
    )
    if done.made is None:
        return views.step(done, None)
    return views.step(done, parent_of(caller, done.made.header_hash))


def parent_of(caller: JamCaller, block: bytes) -> bytes | None:
    """None for the genesis, and for blocks that the node does not see."""
    try:
        return caller.model.parent(caller.node, block).header_hash
    except BlockUnavailable:
        return None


def finality(caller: JamCaller, wish: int | str) -> Json:
    """Set how many blocks stand on a final one; or freeze finality, and thaw it again."""
    if isinstance(wish, int):
        caller.host.set_finality_lag(wish)
    else:
        caller.model.faults.is_finality_stalled = wish == "freeze"
    caller.host.vote()
    finalized: Json = to_builtins(caller.model.finalized(caller.node))
    return finalized


def depth_or_command(value: object) -> object:
    return value if value in ("freeze", "thaw") else depth(value)


def block(caller: JamCaller, at: bytes) -> Json:
    """What the block did, its header, and its extrinsic."""
    header = caller.model.header(caller.node, at)
    step = views.step(caller.model.made(caller.node, at), parent_of(caller, at))
    extrinsic = caller.model.block(caller.node, at)[len(header) :]
    return {**step, "header": text(header), "extrinsic": text(extrinsic)}


def state(caller: JamCaller, at: bytes) -> list[list[str]]:
    return [
        [text(key), text(value)]
        for key, value in sorted(caller.model.state(caller.node, at).items())
    ]


def justification(caller: JamCaller, at: bytes) -> str | None:
    """Why the block is final, as CE 130 would give it."""
    found = caller.model.justification(caller.node, at)
    return None if found is None else text(justification_codec(caller.model.spec).encode(found))


def shard(caller: JamCaller, validator: int, erasure_root: bytes, place: int) -> Json:
    """What a validator keeps of a package, as CE 138 and CE 139 would give it."""
    if validator >= caller.model.spec.validator_count:
        raise wrong("no such validator")
    kept = caller.model.shard(validator, erasure_root, place)
    segment_shards = [text(segment) for segment in kept.segment_shards]
    return {"bundle_shard": text(kept.bundle_shard), "segment_shards": segment_shards}


CONTROLS: Final[Mapping[str, Method]] = {
    "dev_produce": Method((wishes,), produce, optional=1),
    "dev_finality": Method((depth_or_command,), finality),
    "dev_accumulated": Method((hash_, hash_), of_model(JamModel.is_accumulated)),
    "dev_block": Method((hash_,), block),
    "dev_state": Method((hash_,), state),
    "dev_justification": Method((hash_,), justification),
    "dev_shard": Method((index, hash_, index), shard),
    "dev_subscriptions": Method((), lambda caller: caller.host.subscriptions()),
    "dev_reset": Method((depth,), lambda caller, lag_blocks: caller.host.reset(lag_blocks)),
    **FAULT_METHODS,
}
