"""All components of a JAM state by their keys, and the keys of accounts: for tests that read every
entry of a state."""

from collections.abc import Mapping
from typing import Any

from laneway.jam import state_keys
from laneway.jam.codec import Codec
from laneway.jam.spec import ChainSpec
from laneway.jam.state import ENTROPY, JUDGED, OUTPUTS, RECENT_HISTORY, TIMESLOT, state_codecs


def account_service(key: bytes) -> int | None:
    """The service whose account record stands under this key; None when it is no such key."""
    service = int.from_bytes(key[1:8:2], "little")
    return service if key == state_keys.account_key(service) else None


def component_codecs(spec: ChainSpec) -> Mapping[bytes, Codec[Any]]:
    """The codec of every component, by its key; the services' own entries are not among them."""
    codecs = state_codecs(spec)
    return {
        state_keys.AUTHORIZER_POOLS: codecs.authorizer_pools,
        state_keys.AUTHORIZER_QUEUES: codecs.authorizer_queues,
        state_keys.RECENT_HISTORY: RECENT_HISTORY,
        state_keys.SAFROLE: codecs.safrole,
        state_keys.DISPUTES: JUDGED,
        state_keys.ENTROPY: ENTROPY,
        state_keys.VALIDATORS_STAGED: codecs.validators,
        state_keys.VALIDATORS_ACTIVE: codecs.validators,
        state_keys.VALIDATORS_PREVIOUS: codecs.validators,
        state_keys.PENDING_REPORTS: codecs.pending_reports,
        state_keys.TIMESLOT: TIMESLOT,
        state_keys.PRIVILEGES: codecs.privileges,
        state_keys.STATISTICS: codecs.statistics,
        state_keys.READY_QUEUE: codecs.ready_queue,
        state_keys.ACCUMULATED: codecs.accumulated,
        state_keys.OUTPUTS: OUTPUTS,
    }
