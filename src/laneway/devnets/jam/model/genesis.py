"""The block that a chain model begins with, and the state after it."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.accumulation import storage_octets
from laneway.devnets.jam.model.epochs import epoch_mark, first_era
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.state import ChainState, Era, changes
from laneway.devnets.jam.model.values import NULL_AUTHORIZER_HASH, ModelSetup, ServiceSetup
from laneway.jam import history, state_keys
from laneway.jam.extrinsic import Extrinsic, extrinsic_hash
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.header import Block, Header, header_hash
from laneway.jam.rules.activity import CoreActivity
from laneway.jam.rules.queueing import empty_queue
from laneway.jam.service.commitment import authorizers_of
from laneway.jam.service.interface import Stored
from laneway.jam.spec import AUTHORIZER_POOL_COUNT_MAX, ChainSpec
from laneway.jam.state import (
    AUTHORIZER_QUEUE_COUNT,
    ENTROPY_COUNT,
    REQUEST,
    Hashes,
    Privileges,
    ServiceAccount,
    Statistics,
    ValidatorActivity,
)
from laneway.jam.trie import EMPTY

PREIMAGE_OCTETS = 81
PREIMAGE_ITEMS = 2
"""What a requested preimage counts for, besides its length (Gray Paper 0.7.2, §9.3)."""


def genesis_hash(setup: ModelSetup) -> bytes:
    """Of the genesis header. It depends on no service, so that a service's code may name it."""
    keyring = Keyring(setup.spec, setup.validator_pool_count, signs=False)
    era = first_era(keyring, _entropy(setup), setup.spec)
    return header_hash(_first_header(setup, era), setup.spec)


def begun(setup: ModelSetup, keyring: Keyring) -> tuple[Block, ChainState]:
    """The genesis block of a setup and its state."""
    spec = setup.spec
    era = first_era(keyring, _entropy(setup), spec)
    header = _first_header(setup, era)
    first = history.advanced(
        history.EMPTY,
        header_hash=header_hash(header, spec),
        parent_state_root=ZERO_HASH,
        accumulate_root=ZERO_HASH,
        reported=(),
    )
    queues = tuple(_queue(setup, core) for core in range(spec.core_count))
    state = ChainState(
        era=era,
        entropy=_entropy(setup),
        pools=tuple(queue[:AUTHORIZER_POOL_COUNT_MAX] for queue in queues),
        queues=queues,
        history=first,
        pending=(None,) * spec.core_count,
        privileges=_nobodys(spec),
        statistics=_idle(spec),
        queue=empty_queue(setup.genesis_slot, spec),
        outputs=(),
        accounts={
            service: account(made, setup.genesis_slot) for service, made in setup.services.items()
        },
    )
    entries = changes(None, state, spec)
    for service, made in setup.services.items():
        entries |= service_entries(service, made, setup.genesis_slot)
    block = Block(header=header, extrinsic=Extrinsic())
    return block, replace(state, trie=EMPTY.with_changes(entries))


def rollup_authorizers(setup: ModelSetup) -> tuple[bytes, ...]:
    """The authorizers that may move the line of the development chain's rollup, by their hashes;
    empty if all may, or if there is no rollup."""
    made = setup.services.get(ROLLUP_SERVICE_DEV)
    return () if made is None else authorizers_of(Stored(made.storage))


def pools(spec: ChainSpec, authorizers: Sequence[bytes]) -> dict[int, tuple[bytes, ...]]:
    """Cores that take these besides the null authorizer, for `ModelSetup.authorizers`."""
    queue = tuple(dict.fromkeys((NULL_AUTHORIZER_HASH, *authorizers)))
    return dict.fromkeys(range(spec.core_count), queue)


def _entropy(setup: ModelSetup) -> Hashes:
    """The seed is in the entropy, so that chains of different seeds have different hashes and
    different rotations."""
    return tuple(blake2b(setup.seed + bytes([age])) for age in range(ENTROPY_COUNT))


def _first_header(setup: ModelSetup, era: Era) -> Header:
    return Header(
        parent=ZERO_HASH,
        parent_state_root=ZERO_HASH,
        extrinsic_hash=extrinsic_hash(Extrinsic(), setup.spec),
        slot=setup.genesis_slot,
        epoch_mark=epoch_mark(_entropy(setup), era),
        author_index=0,
        entropy_source=bytes(96),
        seal=bytes(96),
    )


def account(made: ServiceSetup, slot: int) -> ServiceAccount:
    wanted = [len(blob) for blob in made.preimages] + [length for _, length in made.requests]
    stored = sum(storage_octets(name, value) for name, value in made.storage.items())
    return ServiceAccount(
        code_hash=made.service.code_hash,
        balance=made.balance,
        min_item_gas=made.min_item_gas,
        min_memo_gas=made.min_memo_gas,
        octets=stored + sum(PREIMAGE_OCTETS + length for length in wanted),
        deposit_offset=0,
        items=len(made.storage) + PREIMAGE_ITEMS * len(wanted),
        creation_slot=slot,
        last_accumulation_slot=0,
        parent_service=0,
    )


def service_entries(service: int, made: ServiceSetup, slot: int) -> Mapping[bytes, bytes]:
    """What the service's storage, preimages and requests are in the trie."""
    entries = {state_keys.storage_key(service, name): value for name, value in made.storage.items()}
    for blob in made.preimages:
        entries |= preimage_entries(service, blob, slot)
    for hashed, length in made.requests:
        entries[state_keys.request_key(service, hashed, length)] = REQUEST.encode(())
    return entries


def preimage_entries(service: int, blob: bytes, slot: int) -> dict[bytes, bytes]:
    """A preimage, and that it is there since this slot."""
    hashed = blake2b(blob)
    return {
        state_keys.preimage_key(service, hashed): blob,
        state_keys.request_key(service, hashed, len(blob)): REQUEST.encode((slot,)),
    }


def _queue(setup: ModelSetup, core: int) -> Hashes:
    """The authorizers of a core, in turn."""
    queue = setup.authorizers.get(core, (NULL_AUTHORIZER_HASH,))
    return tuple(queue[place % len(queue)] for place in range(AUTHORIZER_QUEUE_COUNT))


def _nobodys(spec: ChainSpec) -> Privileges:
    return Privileges(
        manager=0, assigners=(0,) * spec.core_count, delegator=0, registrar=0, always_accumulate=()
    )


def _idle(spec: ChainSpec) -> Statistics:
    nobody = (ValidatorActivity(),) * spec.validator_count
    cores = (CoreActivity(),) * spec.core_count
    return Statistics(current=nobody, previous=nobody, cores=cores, services=())
