"""Headers: their bytes, their name, and what a seal signs."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam import objects
from tests.jam.lookups import holds_together

from laneway.jam.codec import record
from laneway.jam.errors import MalformedEncoding, Unencodable
from laneway.jam.extrinsic import Extrinsic, extrinsic_codec, extrinsic_hash
from laneway.jam.hashing import blake2b
from laneway.jam.header import (
    TICKET_BODY,
    Block,
    EpochMarkValidatorKeys,
    Header,
    TicketBody,
    block_codec,
    epoch_mark_codec,
    header_codec,
    header_hash,
    unsealed,
)
from laneway.jam.spec import FULL, TINY, ChainSpec

SPECS = pytest.mark.parametrize("spec", [TINY, FULL], ids=["tiny", "full"])


def plain(seed: int) -> Header:
    made = objects.header(Random(seed), TINY)
    return replace(made, epoch_mark=None, tickets_mark=None, offenders_mark=())


@SPECS
@pytest.mark.parametrize("seed", range(4))
def test_a_header_comes_back_from_its_bytes(spec: ChainSpec, seed: int) -> None:
    made = objects.header(Random(seed), spec)
    assert header_codec(spec).decode(header_codec(spec).encode(made)) == made


def test_the_fields_of_a_header_stand_in_their_order() -> None:
    made = replace(plain(1), slot=7, author_index=3, offenders_mark=(b"o" * 32,))
    assert header_codec(FULL).encode(made) == (
        made.parent
        + made.parent_state_root
        + made.extrinsic_hash
        + b"\x07\x00\x00\x00\x00\x00\x03\x00"
        + made.entropy_source
        + b"\x01"
        + b"o" * 32
        + made.seal
    )


@SPECS
def test_a_plain_header_has_297_bytes_and_one_with_an_epoch_mark_names_each_validator(
    spec: ChainSpec,
) -> None:
    made = plain(1)
    assert len(header_codec(spec).encode(made)) == 297
    marked = replace(made, epoch_mark=objects.epoch_mark(Random(1), spec))
    raw = header_codec(spec).encode(marked)
    assert len(raw) == 297 + 64 + 64 * spec.validator_count
    assert header_codec(spec).decode(raw) == marked


def test_a_mark_names_tickets_for_a_whole_epoch() -> None:
    tickets = objects.tickets_mark(Random(1), TINY)
    marked = replace(plain(1), tickets_mark=tickets)
    raw = header_codec(TINY).encode(marked)
    assert len(raw) == 297 + 33 * TINY.epoch_slots
    assert header_codec(TINY).decode(raw) == marked
    with pytest.raises(Unencodable):
        header_codec(TINY).encode(replace(marked, tickets_mark=tickets[1:]))


def test_a_header_of_another_chain_is_refused() -> None:
    marked = replace(plain(1), epoch_mark=objects.epoch_mark(Random(1), TINY))
    raw = header_codec(TINY).encode(marked)
    with pytest.raises(MalformedEncoding) as caught:
        header_codec(FULL).decode(raw, "header")
    assert str(caught.value.operands["path"]).startswith("header.epoch_mark.validators[")


def test_a_key_and_a_ticket_are_their_fields() -> None:
    keys = EpochMarkValidatorKeys(b"b" * 32, b"e" * 32)
    assert record(EpochMarkValidatorKeys).encode(keys) == b"b" * 32 + b"e" * 32
    assert TICKET_BODY.encode(TicketBody(b"i" * 32, 2)) == b"i" * 32 + b"\x02"
    assert epoch_mark_codec(TINY) is epoch_mark_codec(TINY)


@SPECS
def test_a_header_is_named_by_the_hash_of_its_bytes(spec: ChainSpec) -> None:
    made = objects.header(Random(2), spec)
    assert header_hash(made, spec) == blake2b(header_codec(spec).encode(made))


@SPECS
def test_a_seal_signs_everything_before_it(spec: ChainSpec) -> None:
    made = objects.header(Random(3), spec)
    assert unsealed(made, spec) + made.seal == header_codec(spec).encode(made)


@SPECS
def test_a_block_is_its_header_and_its_extrinsic(spec: ChainSpec) -> None:
    made = objects.block(Random(1), spec)
    raw = block_codec(spec).encode(made)
    assert raw == header_codec(spec).encode(made.header) + extrinsic_codec(spec).encode(
        made.extrinsic
    )
    assert block_codec(spec).decode(raw) == made


@SPECS
def test_a_header_names_its_extrinsic(spec: ChainSpec) -> None:
    made = objects.block(Random(1), spec)
    named = replace(made.header, extrinsic_hash=extrinsic_hash(made.extrinsic, spec))
    whole = Block(header=named, extrinsic=made.extrinsic)
    assert holds_together(whole, spec)
    assert not holds_together(replace(whole, extrinsic=Extrinsic()), spec)
