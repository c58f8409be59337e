"""Headers of blocks: values, bytes, the hash, and what a seal signs.

A header carries the state root of its parent's end, never its own. Seals and marks are carried and
not checked.
"""

from functools import cache
from typing import Any, Final

import msgspec

from laneway.jam.codec import HASH, U8, U16, U32, Codec, Exactly, Many, Maybe, Record
from laneway.jam.extrinsic import VRF_SIGNATURE
from laneway.jam.hashing import blake2b
from laneway.jam.spec import ChainSpec


class EpochMarkValidatorKeys(msgspec.Struct, frozen=True):
    bandersnatch: bytes
    ed25519: bytes


class EpochMark(msgspec.Struct, frozen=True, kw_only=True):
    """The first block of an epoch names the validators of the next."""

    entropy: bytes
    tickets_entropy: bytes
    validators: tuple[EpochMarkValidatorKeys, ...]


class TicketBody(msgspec.Struct, frozen=True):
    id: bytes
    attempt: int


class Header(msgspec.Struct, frozen=True, kw_only=True):
    parent: bytes
    parent_state_root: bytes
    extrinsic_hash: bytes
    slot: int
    epoch_mark: EpochMark | None = None
    tickets_mark: tuple[TicketBody, ...] | None = None
    author_index: int
    entropy_source: bytes
    offenders_mark: tuple[bytes, ...] = ()
    seal: bytes


EPOCH_MARK_KEYS: Final = Record(EpochMarkValidatorKeys, bandersnatch=HASH, ed25519=HASH)
TICKET_BODY: Final = Record(TicketBody, id=HASH, attempt=U8)


@cache
def epoch_mark_codec(spec: ChainSpec) -> Codec[EpochMark]:
    keys = Exactly(EPOCH_MARK_KEYS, spec.validator_count)
    return Record(EpochMark, entropy=HASH, tickets_entropy=HASH, validators=keys)


@cache
def header_codec(spec: ChainSpec) -> Codec[Header]:
    return Record(Header, **_unsealed_fields(spec), seal=VRF_SIGNATURE)


@cache
def _unsealed_codec(spec: ChainSpec) -> Codec[Header]:
    return Record(Header, **_unsealed_fields(spec))


def _unsealed_fields(spec: ChainSpec) -> dict[str, Codec[Any]]:
    return {
        "parent": HASH,
        "parent_state_root": HASH,
        "extrinsic_hash": HASH,
        "slot": U32,
        "epoch_mark": Maybe(epoch_mark_codec(spec)),
        "tickets_mark": Maybe(Exactly(TICKET_BODY, spec.epoch_slots)),
        "author_index": U16,
        "entropy_source": VRF_SIGNATURE,
        "offenders_mark": Many(HASH),
    }


def unsealed(header: Header, spec: ChainSpec) -> bytes:
    """The header without its seal: what the seal signs."""
    return _unsealed_codec(spec).encode(header)


def header_hash(header: Header, spec: ChainSpec) -> bytes:
    return blake2b(header_codec(spec).encode(header))
