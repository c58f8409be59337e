"""What a sender could do at best: asyncio, our own protobuf and libsecp256k1, and nothing durable.

Transfers are signed and posted one after the other over one kept-alive connection, for what
comes after a refusal would be refused for its sequence; the next is signed while the node looks
at the one before. Then the statuses are read, twenty a call, until all are committed.
Should it die, nobody knows what it sent: it keeps no record of anything.
"""

import asyncio
import base64
from collections import deque
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from laneway.cosmos.keys import HeldCosmosKey
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.tx import SignedCosmosTx, SigningTerms, body_of, fee_of, packed, sign
from laneway_bench.child import BenchFailed
from laneway_bench.contestant import answer_each
from laneway_bench.eoa.raw import RawConnection
from laneway_bench.limits import SEQUENCE_POLL_MS, STATUSES
from laneway_bench.watch import Stopwatch


class RawBroadcast(Struct, frozen=True):
    code: int


class BroadcastSaid(Struct, frozen=True):
    result: RawBroadcast


class RawFound(Struct, frozen=True):
    status: str
    execution_code: int


class RawName(Struct, frozen=True):
    result: RawFound


class RawStatuses(Struct, frozen=True):
    statuses: list[RawName]


class StatusesSaid(Struct, frozen=True):
    result: RawStatuses


decode_broadcast = msgspec.json.Decoder(BroadcastSaid).decode
decode_statuses = msgspec.json.Decoder(StatusesSaid).decode


class RawSequenceSender:
    """One account."""

    def __init__(self, question: dict[str, Any]) -> None:
        self._key = HeldCosmosKey(bytes.fromhex(question["key"]))
        self._chain_id: str = question["chain_id"]
        self._fee = fee_of(int(question["fee"]), question["denom"], int(question["gas"]))
        own = self._key.address(question["prefix"])
        coin = Coin(question["denom"], "1")
        self._body = body_of([packed(MsgSend(own, question["to"], (coin,)), MsgSend.url)])
        self._out: deque[bytes] = deque()
        self._jobs: int = question["jobs"]

    def signed(self, sequence: int) -> SignedCosmosTx:
        terms = SigningTerms(self._chain_id, 0, sequence, self._fee)
        return sign(self._body, terms, self._key.public_key, self._key.sign)

    async def send(self, line: RawConnection) -> None:
        for sequence in range(self._jobs):
            made = self.signed(sequence)
            if sequence:
                await taken(line)
            line.write(
                b'{"jsonrpc":"2.0","id":%d,"method":"broadcast_tx_sync","params":["%s"]}'
                % (sequence, base64.b64encode(made.raw))
            )
            self._out.append(made.hash)
            # Let it leave before the next one is signed.
            await asyncio.sleep(0)
        await taken(line)

    async def confirm(self, line: RawConnection) -> None:
        """Until every transfer is in a block, and succeeded there."""
        while self._out:
            asked = [self._out.popleft() for _ in range(min(STATUSES, len(self._out)))]
            names = [base64.b64encode(one).decode() for one in asked]
            reply = decode_statuses(await line.ask("tx_status_batch", names)).result.statuses
            for hash_, one in zip(asked, reply, strict=True):
                if one.result.status == "PENDING":
                    self._out.append(hash_)
                elif one.result.status != "COMMITTED" or one.result.execution_code:
                    raise BenchFailed(f"a transfer is {one.result}")
            if reply[0].result.status == "PENDING":
                await asyncio.sleep(SEQUENCE_POLL_MS / 1000)


async def taken(line: RawConnection) -> None:
    reply = decode_broadcast(await line.read()).result
    if reply.code:
        raise BenchFailed(f"the node refused a transfer with code {reply.code}")


async def run(question: dict[str, Any]) -> dict[str, float]:
    sender = RawSequenceSender(question)
    port = urlsplit(question["url"]).port
    assert port is not None
    line = await RawConnection.open(port)
    watch = Stopwatch()
    await sender.send(line)
    await sender.confirm(line)
    spent = watch.read()
    line.close()
    return spent


def main() -> None:
    answer_each(run)


if __name__ == "__main__":
    main()
