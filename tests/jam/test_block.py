"""A block is a header and the extrinsic that it names."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam import objects

from laneway.jam.block import Block, block_codec
from laneway.jam.extrinsic import Extrinsic, extrinsic_codec, extrinsic_hash
from laneway.jam.header import header_codec
from laneway.jam.spec import FULL, TINY, ChainSpec

SPECS = pytest.mark.parametrize("spec", [TINY, FULL], ids=["tiny", "full"])


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
    assert whole.holds_together(spec)
    assert not replace(whole, extrinsic=Extrinsic()).holds_together(spec)
