"""Blocks and their headers: values, bytes, the hash, and what a seal signs.

A header carries the state root of its parent's end, never its own. Seals and marks are carried and
not checked.
"""

from functools import cache
from typing import Final

import msgspec

from laneway.jam.codec import (
    HASH,
    U8,
    Codec,
    Exactly,
    Hash,
    Maybe,
    Record,
    Uint16,
    Uint32,
    record,
)
from laneway.jam.extrinsic import VRF_SIGNATURE, Extrinsic, extrinsic_codec
from laneway.jam.hashing import blake2b
from laneway.jam.spec import ChainSpec


class EpochMarkValidatorKeys(msgspec.Struct, frozen=True):
    bandersnatch: Hash
    ed25519: Hash


class EpochMark(msgspec.Struct, frozen=True, kw_only=True):
    """The first block of an epoch names the validators of the next."""

    entropy: Hash
    tickets_entropy: Hash
    validators: tuple[EpochMarkValidatorKeys, ...]


class TicketBody(msgspec.Struct, frozen=True):
    id: bytes
    attempt: int


class Header(msgspec.Struct, frozen=True, kw_only=True):
    parent: Hash
    parent_state_root: Hash
    extrinsic_hash: Hash
    slot: Uint32
    epoch_mark: EpochMark | None = None
    tickets_mark: tuple[TicketBody, ...] | None = None
    author_index: Uint16
    entropy_source: bytes
    offenders_mark: tuple[Hash, ...] = ()
    seal: bytes


TICKET_BODY: Final = Record(TicketBody, id=HASH, attempt=U8)


@cache
def epoch_mark_codec(spec: ChainSpec) -> Codec[EpochMark]:
    keys = Exactly(record(EpochMarkValidatorKeys), spec.validator_count)
    return record(EpochMark, validators=keys)


@cache
def header_codec(spec: ChainSpec) -> Record[Header]:
    return record(
        Header,
        epoch_mark=Maybe(epoch_mark_codec(spec)),
        tickets_mark=Maybe(Exactly(TICKET_BODY, spec.epoch_slots)),
        entropy_source=VRF_SIGNATURE,
        seal=VRF_SIGNATURE,
    )


def unsealed(header: Header, spec: ChainSpec) -> bytes:
    """The header without its seal: what the seal signs."""
    *unsealed_fields, _ = header_codec(spec).fields
    return Record(Header, **dict(unsealed_fields)).encode(header)


def header_hash(header: Header, spec: ChainSpec) -> bytes:
    return blake2b(header_codec(spec).encode(header))


class Block(msgspec.Struct, frozen=True, kw_only=True):
    header: Header
    extrinsic: Extrinsic


@cache
def block_codec(spec: ChainSpec) -> Codec[Block]:
    return Record(Block, header=header_codec(spec), extrinsic=extrinsic_codec(spec))
