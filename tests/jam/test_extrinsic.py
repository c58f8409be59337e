"""What a block brings in: bytes, and the hash that a header names it by."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam import objects
from tests.jam.lookups import vouches_for

from laneway.jam.codec import NATURAL, U32
from laneway.jam.errors import Unencodable
from laneway.jam.extrinsic import (
    GUARANTEES,
    PREIMAGES,
    TICKETS,
    VALIDATOR_SIGNATURE,
    AvailAssurance,
    Disputes,
    Extrinsic,
    Preimage,
    TicketEnvelope,
    ValidatorSignature,
    assurance_codec,
    assurances_codec,
    bitfield,
    disputes_codec,
    extrinsic_codec,
    extrinsic_hash,
    extrinsic_parts,
    guarantees_digest,
)
from laneway.jam.hashing import blake2b
from laneway.jam.report import report_hash
from laneway.jam.spec import FULL, TINY, ChainSpec

SPECS = pytest.mark.parametrize("spec", [TINY, FULL], ids=["tiny", "full"])


@SPECS
@pytest.mark.parametrize("seed", range(4))
def test_an_extrinsic_comes_back_from_its_bytes(spec: ChainSpec, seed: int) -> None:
    made = objects.extrinsic(Random(seed), spec)
    assert extrinsic_codec(spec).decode(extrinsic_codec(spec).encode(made)) == made


@SPECS
def test_an_empty_extrinsic_is_seven_zeros(spec: ChainSpec) -> None:
    assert extrinsic_codec(spec).encode(Extrinsic()) == bytes(7)


def test_a_verdict_holds_exactly_a_supermajority_of_votes_and_does_not_count_them() -> None:
    verdict = objects.verdict(Random(1), TINY)
    raw = disputes_codec(TINY).encode(Disputes(verdicts=(verdict,)))
    assert len(raw) == 1 + 32 + 4 + TINY.supermajority * (1 + 2 + 64) + 1 + 1
    short = replace(verdict, votes=verdict.votes[1:])
    with pytest.raises(Unencodable):
        disputes_codec(TINY).encode(Disputes(verdicts=(short,)))


@SPECS
def test_an_assurance_has_a_bit_for_each_core(spec: ChainSpec) -> None:
    made = AvailAssurance(
        anchor=bytes(32), bitfield=bitfield((1,), spec), validator_index=258, signature=bytes(64)
    )
    raw = assurance_codec(spec).encode(made)
    assert raw == bytes(32) + b"\x02" + bytes(spec.bitfield_bytes - 1) + b"\x02\x01" + bytes(64)
    assert assurances_codec(spec).encode((made, made)) == b"\x02" + raw + raw


@SPECS
def test_an_assurance_vouches_for_the_cores_of_its_bits(spec: ChainSpec) -> None:
    cores = (0, spec.core_count - 1)
    made = replace(objects.assurance(Random(1), spec), bitfield=bitfield(cores, spec))
    vouched = [core for core in range(spec.core_count) if vouches_for(made, core)]
    assert vouched == list(cores)


@pytest.mark.parametrize("core", [-1, TINY.core_count])
def test_a_core_that_is_not_there_has_no_bit(core: int) -> None:
    with pytest.raises(AssertionError):
        bitfield((core,), TINY)


def test_tickets_and_preimages_stand_behind_their_count() -> None:
    assert TICKETS.encode((TicketEnvelope(1, b"s" * 784),)) == b"\x01\x01" + b"s" * 784
    assert PREIMAGES.encode((Preimage(2, b"ab"),)) == b"\x01\x02\x00\x00\x00\x02ab"


def test_a_hash_sees_the_hash_of_each_report() -> None:
    made = replace(
        objects.guarantee(Random(1)), slot=9, signatures=(ValidatorSignature(3, bytes(64)),)
    )
    assert guarantees_digest((made,)) == (
        NATURAL.encode(1)
        + report_hash(made.report)
        + U32.encode(9)
        + b"\x01"
        + VALIDATOR_SIGNATURE.encode(made.signatures[0])
    )


@SPECS
def test_an_extrinsic_is_named_by_the_hash_of_its_five_parts(spec: ChainSpec) -> None:
    made = objects.extrinsic(Random(1), spec)
    parts = extrinsic_parts(made, spec)
    assert parts == (
        blake2b(TICKETS.encode(made.tickets)),
        blake2b(PREIMAGES.encode(made.preimages)),
        blake2b(guarantees_digest(made.guarantees)),
        blake2b(assurances_codec(spec).encode(made.assurances)),
        blake2b(disputes_codec(spec).encode(made.disputes)),
    )
    assert extrinsic_hash(made, spec) == blake2b(b"".join(parts))


def test_another_report_is_another_extrinsic() -> None:
    made = Extrinsic(guarantees=(objects.guarantee(Random(1)),))
    other = Extrinsic(guarantees=(objects.guarantee(Random(2)),))
    assert extrinsic_hash(made, TINY) != extrinsic_hash(other, TINY)
    assert GUARANTEES.decode(GUARANTEES.encode(made.guarantees)) == made.guarantees


@SPECS
def test_a_codec_of_a_chain_is_made_once(spec: ChainSpec) -> None:
    assert extrinsic_codec(spec) is extrinsic_codec(spec)
