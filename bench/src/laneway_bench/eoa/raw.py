"""What a sender could do at best: asyncio, our own RLP and libsecp256k1, and nothing durable.

Transfers are signed a hundred at a time while the node reads those before. They leave in the order
of their nonces, over two connections in turn: over one, half of the node waits for the other half.
A third connection reads the hashes in each new block, and the receipts of its own: without them
nobody knows whether a transfer succeeded. `receipts: 0` leaves them out.
Should it die, nobody knows what it sent: it keeps no record of anything.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import msgspec
from msgspec import Struct

from laneway.evm.envelope import draft, seal
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import DynamicFeeTransaction
from laneway_bench.anvil import CHAIN_ID
from laneway_bench.child import BenchFailed
from laneway_bench.contestant import answer_each
from laneway_bench.limits import BATCH, BLOCK_POLL_S
from laneway_bench.watch import Stopwatch


class RawBlock(Struct, frozen=True):
    transactions: list[str]


class BlockSaid(Struct, frozen=True):
    result: RawBlock | None


class RawReceipt(Struct, frozen=True):
    status: str


class ReceiptSaid(Struct, frozen=True):
    result: RawReceipt | None


decode_block = msgspec.json.Decoder(BlockSaid).decode
decode_receipts = msgspec.json.Decoder(list[ReceiptSaid]).decode


class RawConnection:
    """A kept-alive connection with one request under way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> "RawConnection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def write(self, body: bytes) -> None:
        self._writer.write(
            b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)
        )
        self._writer.write(body)

    async def read(self) -> bytes:
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        _, found, rest = head.partition(b"content-length: ")
        if not found or b" 200 " not in head[:16]:
            raise BenchFailed(f"the node answered: {head[:200].decode(errors='replace')}")
        return await self._reader.readexactly(int(rest.partition(b"\r")[0]))

    async def ask(self, method: str, *params: object) -> bytes:
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.write(msgspec.json.encode(asked))
        return await self.read()

    def close(self) -> None:
        self._writer.close()


class RawEoaSender:
    """One account, and the hashes of its transfers that no block has shown yet."""

    def __init__(self, question: dict[str, Any]) -> None:
        self._key = HeldEvmKey(bytes.fromhex(question["key"][2:]))
        self._to = bytes.fromhex(question["to"][2:])
        self._fee_wei_max: int = question["fee_wei_max"]
        self._tip_wei_max: int = question["tip_wei_max"]
        self._out: set[str] = set()
        self._receipts: int = question["receipts"]
        self._nonce_next = 0
        self._block_next = 1

    async def transfer(
        self, jobs: int, lines: Sequence[RawConnection], reading: RawConnection
    ) -> None:
        """Send `count`, and know of each that it succeeded."""
        await asyncio.gather(self.send(jobs, lines), self.confirm(jobs, reading))

    def signed(self, nonce: int) -> str:
        transfer = DynamicFeeTransaction(
            chain_id=CHAIN_ID,
            nonce=nonce,
            tip_wei_max=self._tip_wei_max,
            fee_wei_max=self._fee_wei_max,
            gas_limit=21_000,
            to=self._to,
            value_wei=1,
        )
        drafted = draft(transfer)
        sealed = seal(drafted, self._key.sign(keccak(drafted.payload)))
        self._out.add(f"0x{sealed.hash.hex()}")
        return sealed.raw.hex()

    async def send(self, jobs: int, lines: Sequence[RawConnection]) -> None:
        begin, end = self._nonce_next, self._nonce_next + jobs
        self._nonce_next = end
        under_way: deque[tuple[RawConnection, int]] = deque()
        free = cycle(lines)
        for first in range(begin, end, BATCH):
            nonces = range(first, min(end, first + BATCH))
            body = ",".join(
                f'{{"jsonrpc":"2.0","id":{nonce},"method":"eth_sendRawTransaction",'
                f'"params":["0x{self.signed(nonce)}"]}}'
                for nonce in nonces
            )
            if len(under_way) == len(lines):
                await taken(*under_way.popleft())
            line = next(free)
            line.write(f"[{body}]".encode())
            under_way.append((line, len(nonces)))
            # Let it leave before the next hundred are signed.
            await asyncio.sleep(0)
        for line, asked in under_way:
            await taken(line, asked)

    async def confirm(self, jobs: int, line: RawConnection) -> None:
        """Until every transfer was seen in a block."""
        mined_count = 0
        while mined_count < jobs:
            number = hex(self._block_next)
            reply = decode_block(await line.ask("eth_getBlockByNumber", number, False)).result
            if reply is None:
                await asyncio.sleep(BLOCK_POLL_S)
                continue
            ours = [mined for mined in reply.transactions if mined in self._out]
            self._out.difference_update(ours)
            if self._receipts:
                await self._read_receipts(line, ours)
            mined_count += len(ours)
            self._block_next += 1

    async def _read_receipts(self, line: RawConnection, ours: Sequence[str]) -> None:
        for first in range(0, len(ours), BATCH):
            body = ",".join(
                f'{{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionReceipt","params":["{mined}"]}}'
                for mined in ours[first : first + BATCH]
            )
            line.write(f"[{body}]".encode())
            for reply in decode_receipts(await line.read()):
                if reply.result is None or reply.result.status != "0x1":
                    raise BenchFailed("a transfer failed, or has no receipt")


async def taken(line: RawConnection, asked: int) -> None:
    """Every one of a batch was taken."""
    reply = await line.read()
    if b'"error"' in reply or reply.count(b'"result"') != asked:
        raise BenchFailed(f"the node refused: {reply[:500].decode(errors='replace')}")


async def run(question: dict[str, Any]) -> dict[str, float]:
    sender = RawEoaSender(question)
    reading, *lines = [
        await RawConnection.open(question["port"]) for _ in range(1 + question["lines"])
    ]
    await sender.transfer(question["warm"], lines, reading)
    watch = Stopwatch()
    await sender.transfer(question["jobs"], lines, reading)
    spent = watch.read()
    for line in (reading, *lines):
        line.close()
    return spent


def main() -> None:
    answer_each(run)


if __name__ == "__main__":
    main()
