"""0x40s: what a frame knows of its block, its chain and its transaction's blobs."""

from laneway.evm.machine.frame import CallFrame

HASHES_KEPT = 256
from_bytes = int.from_bytes


def blockhash(frame: CallFrame) -> None:
    wanted, block = frame.stack[-1], frame.context.block
    is_known = 0 < block.number - wanted <= HASHES_KEPT
    frame.stack[-1] = from_bytes(block.block_hash(wanted), "big") if is_known else 0


def coinbase(frame: CallFrame) -> None:
    frame.stack.append(from_bytes(frame.context.block.coinbase, "big"))


def timestamp(frame: CallFrame) -> None:
    frame.stack.append(frame.context.block.timestamp_s)


def number(frame: CallFrame) -> None:
    frame.stack.append(frame.context.block.number)


def prevrandao(frame: CallFrame) -> None:
    frame.stack.append(from_bytes(frame.context.block.prevrandao, "big"))


def gaslimit(frame: CallFrame) -> None:
    frame.stack.append(frame.context.block.gas_limit)


def chainid(frame: CallFrame) -> None:
    frame.stack.append(frame.context.block.chain_id)


def selfbalance(frame: CallFrame) -> None:
    frame.stack.append(frame.context.journal.account(frame.address).balance_wei)


def basefee(frame: CallFrame) -> None:
    frame.stack.append(frame.context.block.base_fee_wei)


def blobhash(frame: CallFrame) -> None:
    index, hashes = frame.stack[-1], frame.context.blob_hashes
    frame.stack[-1] = from_bytes(hashes[index], "big") if index < len(hashes) else 0


def blobbasefee(frame: CallFrame) -> None:
    frame.stack.append(frame.context.block.blob_base_fee_wei)
