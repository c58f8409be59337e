"""What nodes answer, as they write it, and how it is read."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from msgspec import DecodeError, Raw, Struct, json

from laneway.chains.endpoint import result_of
from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.core.errors import ChainUnreadable
from laneway.core.facts import BlockRef, BlockSeen, ReceiptSeen
from laneway.wire.hex import read_octets, read_quantity
from laneway.wire.jsonrpc import Replies, Reply, RpcAnswer
from laneway.wire.limits import FEE_WEI_MAX, NUMBER_MAX, WEI_MAX

T = TypeVar("T")


class HeaderShape(Struct, rename="camel"):
    number: str
    hash: str
    parent_hash: str = "0x"
    base_fee_per_gas: str | None = None
    gas_limit: object = None

    def ref(self) -> BlockRef:
        return BlockRef(read_quantity(self.number), read_octets(self.hash))


class BlockShape(HeaderShape, rename="camel"):
    transactions: list[str] = []

    def seen(self) -> BlockSeen:
        hashes = tuple(map(read_octets, self.transactions))
        return BlockSeen(self.ref(), read_octets(self.parent_hash), hashes)


class Quantities(dict[str, int]):
    """Those of one answer, each read once: a block's receipts name the same few again and again."""

    def __missing__(self, text: str) -> int:
        number = self[text] = read_quantity(text, FEE_WEI_MAX)
        return number


class ReceiptShape(Struct, rename="camel"):
    transaction_hash: str
    block_number: str | None
    block_hash: str | None
    gas_used: str
    status: str | None = None
    effective_gas_price: str | None = None

    def seen(
        self,
        node: str,
        asked: tuple[str, bytes],
        blocks: dict[str, BlockRef],
        quantities: Quantities,
    ) -> ReceiptSeen | None:
        """`asked` is the hash as it was written, and itself; `blocks` and `quantities` are those
        of the receipts read before."""
        if self.block_number is None or self.block_hash is None:
            # A preconfirmed receipt: it is in no block yet.
            return None
        block = blocks.get(self.block_hash)
        if block is None:
            block = BlockRef(read_quantity(self.block_number), read_octets(self.block_hash))
            blocks[self.block_hash] = block
        if self.status is None:
            # Only receipts older than 2017 have none, and no lane of ours sent those.
            raise ValueError("a receipt without a status")
        return ReceiptSeen(
            asked[1] if self.transaction_hash == asked[0] else read_octets(self.transaction_hash),
            quantities[self.status] == 1,
            block,
            quantities[self.gas_used],
            quantities[self.effective_gas_price or "0x0"],
            node,
        )


HEADER: json.Decoder[HeaderShape | None] = json.Decoder(HeaderShape | None)
BLOCK: json.Decoder[BlockShape | None] = json.Decoder(BlockShape | None)
RECEIPTS: Replies[ReceiptShape | None] = json.Decoder(
    list[Reply[ReceiptShape | None]] | Reply[ReceiptShape | None]
)
BLOCK_RECEIPTS: Replies[list[ReceiptShape] | None] = json.Decoder(
    list[Reply[list[ReceiptShape] | None]] | Reply[list[ReceiptShape] | None]
)
TEXT = json.Decoder(str)


def read(node: EvmEndpoint, answer: RpcAnswer, decoder: json.Decoder[T]) -> T:
    """A result in its shape; ChainUnreadable for anything else."""
    return read_raw(node, result_of(node.name, answer), decoder)


def read_raw(node: EvmEndpoint, raw: Raw, decoder: json.Decoder[T]) -> T:
    try:
        return decoder.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ChainUnreadable(node.name, f"{bytes(raw)[:100]!r} ({error})") from error


def read_number(node: EvmEndpoint, answer: RpcAnswer, most: int = NUMBER_MAX) -> int:
    return translated(node, partial(read_quantity, read(node, answer, TEXT), most))


def read_header(node: EvmEndpoint, answer: RpcAnswer) -> BlockRef:
    """The newest block, which every node has; the node is known by it from now on."""
    return read_whole_header(node, answer).ref()


def read_whole_header(node: EvmEndpoint, answer: RpcAnswer) -> HeaderShape:
    header = read(node, answer, HEADER)
    if header is None:
        raise ChainUnreadable(node.name, "it has no block at all")
    node.saw_head(translated(node, header.ref).number)
    node.gas_limit = gas_limit_of(header)
    return header


def gas_limit_of(header: HeaderShape) -> int:
    """What the block may use; 0 where the node does not say it as others do: nothing but a bound of
    estimates depends on it."""
    try:
        return read_quantity(str(header.gas_limit), WEI_MAX)
    except ValueError:
        return 0


def translated(node: EvmEndpoint, reading: Callable[[], T]) -> T:
    """Hexadecimal that is none is the node's fault."""
    try:
        return reading()
    except ValueError as error:
        raise ChainUnreadable(node.name, str(error)) from error
