"""The methods of JIP-2 by their names, on the model.

They are those of the text merged in March 2026, and of its drafts `stateValue`,
`accumulationOutputs` and `stateProof`. The draft's proof is one compact blob for keys and ranges;
here it is, for each key, its value and the 64-byte nodes from the root to it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import to_builtins

from laneway.devnets.jam.limits import (
    EXTRINSICS_COUNT_MAX,
    PROOFS_COUNT_MAX,
    SEGMENTS_COUNT_MAX,
)
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import SubmissionRefusal
from laneway.devnets.jam.node import views
from laneway.devnets.jam.node.caller import JamCaller
from laneway.devnets.jam.node.parameters import (
    any_of,
    blob,
    hash_,
    index,
    number,
    one_of,
    state_key,
)
from laneway.jam import state_keys
from laneway.wire.jip2 import OTHER
from laneway.wire.jip2 import blob as text
from laneway.wire.rpc_server.methods import Json, Kind, Method, RpcRefused

Reading: TypeAlias = Callable[..., object]
"""A reading of the state after a block, for a caller, the block and its own parameters."""


def of_model(method: Callable[..., Any], view: Callable[[Any], object] = to_builtins) -> Reading:
    """The model's own answer for the node, as JIP-2 writes it: bytes in base64, and values as
    objects. The method is looked up when it is called, so that tests can replace it."""
    name = method.__name__
    return lambda caller, *values: view(getattr(caller.model, name)(caller.node, *values))


def list_or_null(items: Sequence[int] | None) -> list[int] | None:
    return None if items is None else list(items)


OF_STATE: Final[Mapping[str, tuple[tuple[Kind, ...], Reading]]] = {
    "statistics": ((), of_model(JamModel.statistics)),
    "serviceData": ((number,), of_model(JamModel.service_data)),
    "serviceValue": ((number, blob), of_model(JamModel.service_value)),
    "servicePreimage": ((number, hash_), of_model(JamModel.service_preimage)),
    "serviceRequest": ((number, hash_, number), of_model(JamModel.service_request, list_or_null)),
    "workPackageStatus": ((hash_, hash_), of_model(JamModel.status, views.status)),
    "stateValue": ((state_key,), of_model(JamModel.state_value)),
}
"""What may be asked of the state after a block, and be followed as the chain goes on. Each is a
method with the block's hash before its own parameters, and a subscription with a flag after them.
"""


def parameters(caller: JamCaller) -> Json:
    return {"V1": dict(caller.model.parameters())}


def accumulation_outputs(caller: JamCaller, at: bytes) -> Any:
    return to_builtins(caller.model.state_value(caller.node, at, state_keys.OUTPUTS))


def state_proof(caller: JamCaller, at: bytes, keys: Sequence[bytes], *_draft: object) -> list[Json]:
    """The draft's further parameters are accepted with values that ask for nothing more."""
    proofs = [caller.model.state_proof(caller.node, at, key) for key in keys]
    return [
        {"value": to_builtins(proof.value), "nodes": [text(each) for each in proof.nodes]}
        for proof in proofs
    ]


def fetch_segments(caller: JamCaller, of: bytes, indices: Sequence[int]) -> list[str]:
    return [text(segment) for segment in caller.model.segments(of, indices)]


def sync_status(caller: JamCaller) -> str:
    """A node that sees blocks late is one that still catches up."""
    is_late = caller.model.faults.lag_slots.get(caller.node, 0) > 0
    return "InProgress" if is_late else "Completed"


def sync_state(caller: JamCaller) -> Json:
    """All nodes and validators of the devnet are each other's peers."""
    peers = caller.model.spec.validator_count + caller.model.setup.nodes - 1
    return {"num_peers": peers, "status": sync_status(caller)}


def taken(refusal: SubmissionRefusal | None) -> None:
    if refusal is not None:
        raise RpcRefused(OTHER, refusal.message)


METHODS: Final[Mapping[str, Method]] = {
    "parameters": Method((), parameters),
    "bestBlock": Method((), of_model(JamModel.best)),
    "finalizedBlock": Method((), of_model(JamModel.finalized)),
    "parent": Method((hash_,), of_model(JamModel.parent)),
    "stateRoot": Method((hash_,), of_model(JamModel.state_root)),
    "beefyRoot": Method((hash_,), of_model(JamModel.beefy_root)),
    **{name: Method((hash_, *kinds), reading) for name, (kinds, reading) in OF_STATE.items()},
    "listServices": Method((hash_,), of_model(JamModel.services, list)),
    "accumulationOutputs": Method((hash_,), accumulation_outputs),
    "stateProof": Method(
        (hash_, any_of(state_key, PROOFS_COUNT_MAX), any_of(blob, 0), one_of("none"), number),
        state_proof,
        optional=3,
    ),
    "workReport": Method((hash_,), of_model(JamModel.work_report)),
    "submitWorkPackage": Method(
        (index, blob, any_of(blob, EXTRINSICS_COUNT_MAX)), of_model(JamModel.submit, taken)
    ),
    "submitWorkPackageBundle": Method((index, blob), of_model(JamModel.submit_bundle, taken)),
    "submitPreimage": Method((number, blob), of_model(JamModel.submit_preimage, taken)),
    "fetchWorkPackageSegments": Method((hash_, any_of(index, SEGMENTS_COUNT_MAX)), fetch_segments),
    "fetchSegments": Method((hash_, any_of(index, SEGMENTS_COUNT_MAX)), fetch_segments),
    "syncState": Method((), sync_state),
}
