"""A block: a header and what it brings in."""

from functools import cache

import msgspec

from laneway.jam.codec import Codec, Record
from laneway.jam.extrinsic import Extrinsic, extrinsic_codec, extrinsic_hash
from laneway.jam.header import Header, header_codec
from laneway.jam.spec import ChainSpec


class Block(msgspec.Struct, frozen=True, kw_only=True):
    header: Header
    extrinsic: Extrinsic

    def holds_together(self, spec: ChainSpec) -> bool:
        """Does the header name this extrinsic?"""
        return self.header.extrinsic_hash == extrinsic_hash(self.extrinsic, spec)


@cache
def block_codec(spec: ChainSpec) -> Codec[Block]:
    return Record(Block, header=header_codec(spec), extrinsic=extrinsic_codec(spec))
