"""What a node is asked: the methods of JIP-2 by their names, on the model.

They are those of the text merged in March 2026, and of its drafts `stateValue`,
`accumulationOutputs` and `stateProof`. The draft's proof is one compact blob for keys and ranges;
here it is, for each key, its value and the 64-byte nodes from the root to it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from laneway.devnets.jam import shown
from laneway.devnets.jam.given import (
    Kind,
    Method,
    RpcRefused,
    any_of,
    blob,
    hash_,
    index,
    number,
    one_of,
    state_key,
)
from laneway.devnets.jam.host import JamHost
from laneway.devnets.jam.limits import (
    EXTRINSICS_COUNT_MAX,
    PROOFS_COUNT_MAX,
    SEGMENTS_COUNT_MAX,
)
from laneway.devnets.jam.shown import Json, text_or_null
from laneway.devnets.jam.values import Refusal
from laneway.jam import state_keys
from laneway.wire.jip2 import OTHER
from laneway.wire.jip2 import blob as text

Reading: TypeAlias = Callable[..., object]
"""Of the state after a block: host, node and block, and then parameters of its own."""


# What may be asked of the state after a block, and be followed as the chain goes on. Each is a
# method with the block's hash before its own parameters, and a subscription with a flag behind.


def statistics(host: JamHost, node: int, at: bytes) -> str:
    return text(host.model.statistics(node, at))


def service_data(host: JamHost, node: int, at: bytes, service: int) -> str | None:
    return text_or_null(host.model.service_data(node, at, service))


def service_value(host: JamHost, node: int, at: bytes, service: int, key: bytes) -> str | None:
    return text_or_null(host.model.service_value(node, at, service, key))


def service_preimage(host: JamHost, node: int, at: bytes, service: int, of: bytes) -> str | None:
    return text_or_null(host.model.service_preimage(node, at, service, of))


def service_request(
    host: JamHost, node: int, at: bytes, service: int, of: bytes, length: int
) -> list[int] | None:
    slots = host.model.service_request(node, at, service, of, length)
    return None if slots is None else list(slots)


def work_package_status(host: JamHost, node: int, at: bytes, package: bytes, anchor: bytes) -> Json:
    return shown.status(host.model.status(node, at, package, anchor))


def state_value(host: JamHost, node: int, at: bytes, key: bytes) -> str | None:
    return text_or_null(host.model.state_value(node, at, key))


OF_STATE: Final[Mapping[str, tuple[tuple[Kind, ...], Reading]]] = {
    "statistics": ((), statistics),
    "serviceData": ((number,), service_data),
    "serviceValue": ((number, blob), service_value),
    "servicePreimage": ((number, hash_), service_preimage),
    "serviceRequest": ((number, hash_, number), service_request),
    "workPackageStatus": ((hash_, hash_), work_package_status),
    "stateValue": ((state_key,), state_value),
}


# What is asked once.


def parameters(host: JamHost, _node: int) -> Json:
    return {"V1": dict(host.model.parameters())}


def best_block(host: JamHost, node: int) -> Json:
    return shown.descriptor(host.model.best(node))


def finalized_block(host: JamHost, node: int) -> Json:
    return shown.descriptor(host.model.finalized(node))


def parent(host: JamHost, node: int, at: bytes) -> Json:
    return shown.descriptor(host.model.parent(node, at))


def state_root(host: JamHost, node: int, at: bytes) -> str:
    return text(host.model.state_root(node, at))


def beefy_root(host: JamHost, node: int, at: bytes) -> str:
    return text(host.model.beefy_root(node, at))


def list_services(host: JamHost, node: int, at: bytes) -> list[int]:
    return list(host.model.services(node, at))


def accumulation_outputs(host: JamHost, node: int, at: bytes) -> str | None:
    return text_or_null(host.model.state_value(node, at, state_keys.OUTPUTS))


def state_proof(
    host: JamHost, node: int, at: bytes, keys: Sequence[bytes], *_draft: object
) -> list[Json]:
    """The draft's further parameters may be given, so far as they ask for nothing further."""
    proofs = [host.model.state_proof(node, at, key) for key in keys]
    return [
        {"value": text_or_null(proof.value), "nodes": [text(each) for each in proof.nodes]}
        for proof in proofs
    ]


def work_report(host: JamHost, node: int, report: bytes) -> str:
    return text(host.model.work_report(node, report))


def fetch_segments(host: JamHost, _node: int, of: bytes, indices: Sequence[int]) -> list[str]:
    return [text(segment) for segment in host.model.segments(of, indices)]


def sync_status(host: JamHost, node: int) -> str:
    """A node that sees blocks late is one that still catches up."""
    is_late = host.model.faults.lag_slots.get(node, 0) > 0
    return "InProgress" if is_late else "Completed"


def sync_state(host: JamHost, node: int) -> Json:
    """All nodes and validators of the devnet are each other's peers."""
    peers = host.model.spec.validator_count + host.model.setup.nodes - 1
    return {"num_peers": peers, "status": sync_status(host, node)}


# What is handed in.


def submit_work_package(
    host: JamHost, node: int, core: int, package: bytes, extrinsics: Sequence[bytes]
) -> None:
    taken(host.model.submit(node, core, package, extrinsics))


def submit_work_package_bundle(host: JamHost, node: int, core: int, bundle: bytes) -> None:
    taken(host.model.submit_bundle(node, core, bundle))


def submit_preimage(host: JamHost, node: int, service: int, preimage: bytes) -> None:
    taken(host.model.submit_preimage(node, service, preimage))


def taken(refusal: Refusal | None) -> None:
    if refusal is not None:
        raise RpcRefused(OTHER, refusal.message)


METHODS: Final[Mapping[str, Method]] = {
    "parameters": Method((), parameters),
    "bestBlock": Method((), best_block),
    "finalizedBlock": Method((), finalized_block),
    "parent": Method((hash_,), parent),
    "stateRoot": Method((hash_,), state_root),
    "beefyRoot": Method((hash_,), beefy_root),
    **{name: Method((hash_, *kinds), reading) for name, (kinds, reading) in OF_STATE.items()},
    "listServices": Method((hash_,), list_services),
    "accumulationOutputs": Method((hash_,), accumulation_outputs),
    "stateProof": Method(
        (hash_, any_of(state_key, PROOFS_COUNT_MAX), any_of(blob, 0), one_of("none"), number),
        state_proof,
        optional=3,
    ),
    "workReport": Method((hash_,), work_report),
    "submitWorkPackage": Method(
        (index, blob, any_of(blob, EXTRINSICS_COUNT_MAX)), submit_work_package
    ),
    "submitWorkPackageBundle": Method((index, blob), submit_work_package_bundle),
    "submitPreimage": Method((number, blob), submit_preimage),
    "fetchWorkPackageSegments": Method((hash_, any_of(index, SEGMENTS_COUNT_MAX)), fetch_segments),
    "fetchSegments": Method((hash_, any_of(index, SEGMENTS_COUNT_MAX)), fetch_segments),
    "syncState": Method((), sync_state),
}
