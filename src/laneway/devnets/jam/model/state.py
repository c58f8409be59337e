"""The state after a block: its components as values, and all of it as a trie.

States never change. One block's state shares with its parent's whatever the block left alone, and
only what is another object is encoded again. How a block changes it is in `transition`.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from msgspec import Struct

from laneway.devnets.jam.limits import HISTORY_ENTRIES_KEPT_MAX
from laneway.jam import state_keys
from laneway.jam.rotation import ValidatorStanding
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import ServiceTerms
from laneway.jam.rules.queueing import QueueState
from laneway.jam.spec import ChainSpec
from laneway.jam.state import (
    ENTROPY,
    HASH_SET,
    JUDGED,
    OUTPUTS,
    RECENT_HISTORY,
    SERVICE_ACCOUNT,
    TIMESLOT,
    AccumulationOutput,
    Hashes,
    JudgedReports,
    Privileges,
    RecentHistory,
    Safrole,
    ServiceAccount,
    Statistics,
    ValidatorKeys,
    state_codecs,
)
from laneway.jam.trie import EMPTY, Trie

NOTHING_JUDGED: Final = JudgedReports(good=(), bad=(), wonky=(), offenders=())


class Era(Struct, frozen=True, kw_only=True):
    """What stays the same for an epoch: who validates, and who seals when."""

    turns: int
    """How often the set has moved on since genesis."""
    safrole: Safrole
    staged: tuple[ValidatorKeys, ...]
    active: tuple[ValidatorKeys, ...]
    previous: tuple[ValidatorKeys, ...]
    active_keys: Hashes
    """The Ed25519 keys alone, which guarantees and assurances are signed with."""
    previous_keys: Hashes
    authors: tuple[int, ...]
    """The place of each slot's author among the active validators."""

    def standing(self, entropy: Hashes) -> ValidatorStanding:
        return ValidatorStanding(
            entropy=entropy, active=self.active_keys, previous=self.previous_keys
        )


class ChainState(Struct, frozen=True, kw_only=True):
    era: Era
    entropy: Hashes
    pools: tuple[Hashes, ...]
    queues: tuple[Hashes, ...]
    history: RecentHistory
    pending: tuple[PendingReport | None, ...]
    privileges: Privileges
    statistics: Statistics
    queue: QueueState
    outputs: tuple[AccumulationOutput, ...]
    accounts: Mapping[int, ServiceAccount]
    trie: Trie = EMPTY

    @property
    def slot(self) -> int:
        return self.queue.slot

    def terms(self) -> dict[int, ServiceTerms]:
        return {
            service: ServiceTerms(account.code_hash, account.min_item_gas)
            for service, account in self.accounts.items()
        }

    def stored(self, service: int, name: bytes) -> bytes | None:
        """What a service stored under a name."""
        return self.trie.get(state_keys.storage_key(service, name))


def changes(
    before: ChainState | None, after: ChainState, spec: ChainSpec
) -> dict[bytes, bytes | None]:
    """What stands under the keys of components and accounts, where it is not the same object."""
    found: dict[bytes, bytes | None] = {}
    for key, (component, encode) in _components(spec).items():
        value = component(after)
        if before is None or component(before) is not value:
            found[key] = encode(value)
    for service, account in after.accounts.items():
        if before is None or before.accounts.get(service) is not account:
            found[state_keys.account_key(service)] = SERVICE_ACCOUNT.encode(account)
    return found


@cache
def _components(
    spec: ChainSpec,
) -> Mapping[bytes, tuple[Callable[[ChainState], Any], Callable[[Any], bytes]]]:
    """How each component is read from a state and encoded, by its key."""
    codecs = state_codecs(spec)
    validators = codecs.validators.encode
    return {
        state_keys.AUTHORIZER_POOLS: (lambda s: s.pools, codecs.authorizer_pools.encode),
        state_keys.AUTHORIZER_QUEUES: (lambda s: s.queues, codecs.authorizer_queues.encode),
        state_keys.RECENT_HISTORY: (lambda s: s.history, RECENT_HISTORY.encode),
        state_keys.SAFROLE: (lambda s: s.era.safrole, codecs.safrole.encode),
        state_keys.DISPUTES: (lambda _: NOTHING_JUDGED, JUDGED.encode),
        state_keys.ENTROPY: (lambda s: s.entropy, ENTROPY.encode),
        state_keys.VALIDATORS_STAGED: (lambda s: s.era.staged, validators),
        state_keys.VALIDATORS_ACTIVE: (lambda s: s.era.active, validators),
        state_keys.VALIDATORS_PREVIOUS: (lambda s: s.era.previous, validators),
        state_keys.PENDING_REPORTS: (lambda s: s.pending, codecs.pending_reports.encode),
        state_keys.TIMESLOT: (lambda s: s.queue.slot, TIMESLOT.encode),
        state_keys.PRIVILEGES: (lambda s: s.privileges, codecs.privileges.encode),
        state_keys.STATISTICS: (lambda s: s.statistics, codecs.statistics.encode),
        state_keys.READY_QUEUE: (lambda s: s.queue.ready, codecs.ready_queue.encode),
        state_keys.ACCUMULATED: (lambda s: s.queue.accumulated, _accumulated_bytes),
        state_keys.OUTPUTS: (lambda s: s.outputs, OUTPUTS.encode),
    }


def _accumulated_bytes(history: tuple[Hashes, ...]) -> bytes:
    """As the component's codec writes it; a block adds one entry to hundreds that it leaves."""
    return b"".join(map(_history_entry, history))


@lru_cache(HISTORY_ENTRIES_KEPT_MAX)
def _history_entry(packages: Hashes) -> bytes:
    return HASH_SET.encode(packages)
