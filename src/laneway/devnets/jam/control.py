"""The hands that move a devnet, and eyes that no real node has; their names begin with dev_.

Those that the dev network on a real state transition has too (`tests/typeberry`) have its names and
its shapes.
"""

from collections.abc import Mapping
from typing import Any, Final

from laneway.devnets.jam import shown
from laneway.devnets.jam.given import Method, any_of, below, fields, hash_, index, number, wrong
from laneway.devnets.jam.host import JamHost
from laneway.devnets.jam.limits import FAULT_SLOTS_MAX, FAULT_VALUES_COUNT_MAX
from laneway.devnets.jam.shown import Json
from laneway.devnets.jam.switches import FAULT_METHODS
from laneway.devnets.jam.values import BlockUnavailable, Descriptor
from laneway.jam.votes import justification_codec
from laneway.wire.jip2 import blob as text

depth: Final = below(FAULT_SLOTS_MAX)
cores: Final = any_of(index, FAULT_VALUES_COUNT_MAX)


def all_or_cores(value: object) -> bool | list[int]:
    found: bool | list[int] = value if isinstance(value, bool) else cores(value)
    return found


wishes: Final = fields(
    slot=number, parent=hash_, variant=index, noGuarantee=all_or_cores, noAssure=cores
)


def produce(host: JamHost, node: int, wished: Mapping[str, Any] | None = None) -> Json:
    """The next block, on the best one or where it is wanted."""
    wished = wished or {}
    withheld, named = wished.get("noGuarantee", False), wished.get("parent")
    if isinstance(withheld, bool):
        withheld = range(host.model.spec.core_count) if withheld else ()
    parent = None if named is None else Descriptor(named, host.model.made(node, named).slot)
    done = host.produce(
        wished.get("slot"),
        parent=parent,
        variant=wished.get("variant", 0),
        withheld_cores=withheld,
        unassured_cores=wished.get("noAssure", ()),
    )
    if done.made is None:
        return shown.step(done, None)
    return shown.step(done, parent_of(host, node, done.made.header_hash))


def parent_of(host: JamHost, node: int, block: bytes) -> bytes | None:
    """None for the genesis, and for blocks that the node does not see."""
    try:
        return host.model.parent(node, block).header_hash
    except BlockUnavailable:
        return None


def finality(host: JamHost, node: int, wish: int | str) -> Json:
    """How many blocks stand upon one that becomes final; or that none does, until it is thawed."""
    if isinstance(wish, int):
        host.set_finality_lag(wish)
    else:
        host.model.faults.is_finality_stalled = wish == "freeze"
    host.vote()
    return shown.descriptor(host.model.finalized(node))


def depth_or_word(value: object) -> int | str:
    found: int | str = value if value in ("freeze", "thaw") else depth(value)
    return found


def block(host: JamHost, node: int, at: bytes) -> Json:
    """What the block did, its header, and its extrinsic."""
    header = host.model.header(node, at)
    told = shown.step(host.model.made(node, at), parent_of(host, node, at))
    extrinsic = host.model.block(node, at)[len(header) :]
    return {**told, "header": text(header), "extrinsic": text(extrinsic)}


def state(host: JamHost, node: int, at: bytes) -> list[list[str]]:
    return [[text(key), text(value)] for key, value in sorted(host.model.state(node, at).items())]


def is_accumulated(host: JamHost, node: int, at: bytes, package: bytes) -> bool:
    """Whether the package is in the history of accumulation, which reaches back one epoch."""
    return host.model.is_accumulated(node, at, package)


def justification(host: JamHost, node: int, at: bytes) -> str | None:
    """Why the block is final, as CE 130 would give it."""
    found = host.model.justification(node, at)
    return None if found is None else text(justification_codec(host.model.spec).encode(found))


def shard(host: JamHost, _node: int, validator: int, erasure_root: bytes, place: int) -> Json:
    """What a validator keeps of a package, as CE 138 and CE 139 would give it."""
    if validator >= host.model.spec.validator_count:
        raise wrong("no such validator")
    segments = host.model.segment_shards(validator, erasure_root, place)
    return {
        "bundle_shard": text(host.model.bundle_shard(validator, erasure_root, place)),
        "segment_shards": [text(segment) for segment in segments],
    }


def subscriptions(host: JamHost, _node: int) -> Json:
    return {**host.subscriptions()}


def reset(host: JamHost, _node: int, finality_lag_blocks: int) -> None:
    host.reset(finality_lag_blocks)


CONTROLS: Final[Mapping[str, Method]] = {
    "dev_produce": Method((wishes,), produce, optional=1),
    "dev_finality": Method((depth_or_word,), finality),
    "dev_accumulated": Method((hash_, hash_), is_accumulated),
    "dev_block": Method((hash_,), block),
    "dev_state": Method((hash_,), state),
    "dev_justification": Method((hash_,), justification),
    "dev_shard": Method((index, hash_, index), shard),
    "dev_subscriptions": Method((), subscriptions),
    "dev_reset": Method((depth,), reset),
    **FAULT_METHODS,
}
