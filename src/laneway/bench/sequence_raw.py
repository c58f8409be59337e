"""What a sender could do at best: asyncio, our own protobuf and libsecp256k1, and nothing durable.

Transfers are signed and posted one behind the other over one kept-alive connection, for what
comes behind a refusal would be refused for its sequence; the next is signed while the node looks
at the one before. Then the statuses are read, twenty a call, until all are committed.
Should it die, nobody knows what it sent: it keeps no record of anything.
"""

import asyncio
import base64
import json
import sys
from collections import deque
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from laneway.bench.child import BenchFailed
from laneway.bench.eoa_raw import Line
from laneway.bench.limits import SEQUENCE_POLL_MS, STATUSES
from laneway.bench.watch import Watch
from laneway.cosmos.keys import HeldKey
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.tx import Signed, Terms, body_of, fee_of, packed, sign


class Broadcast(Struct, frozen=True):
    code: int


class BroadcastSaid(Struct, frozen=True):
    result: Broadcast


class Found(Struct, frozen=True):
    status: str
    execution_code: int


class Named(Struct, frozen=True):
    result: Found


class Statuses(Struct, frozen=True):
    statuses: list[Named]


class StatusesSaid(Struct, frozen=True):
    result: Statuses


decode_broadcast = msgspec.json.Decoder(BroadcastSaid).decode
decode_statuses = msgspec.json.Decoder(StatusesSaid).decode


class Sender:
    """One account."""

    def __init__(self, question: dict[str, Any]) -> None:
        self._key = HeldKey(bytes.fromhex(question["key"]))
        self._chain_id: str = question["chain_id"]
        self._fee = fee_of(int(question["fee"]), question["denom"], int(question["gas"]))
        own = self._key.address(question["prefix"])
        coin = Coin(question["denom"], "1")
        self._body = body_of([packed(MsgSend(own, question["to"], (coin,)), MsgSend.url)])
        self._out: deque[bytes] = deque()
        self._jobs: int = question["jobs"]

    def signed(self, sequence: int) -> Signed:
        terms = Terms(self._chain_id, 0, sequence, self._fee)
        return sign(self._body, terms, self._key.public_key, self._key.sign)

    async def send(self, line: Line) -> None:
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

    async def confirm(self, line: Line) -> None:
        """Until every transfer is in a block, and succeeded there."""
        while self._out:
            asked = [self._out.popleft() for _ in range(min(STATUSES, len(self._out)))]
            names = [base64.b64encode(one).decode() for one in asked]
            said = decode_statuses(await line.ask("tx_status_batch", names)).result.statuses
            for hash_, one in zip(asked, said, strict=True):
                if one.result.status == "PENDING":
                    self._out.append(hash_)
                elif one.result.status != "COMMITTED" or one.result.execution_code:
                    raise BenchFailed(f"a transfer is {one.result}")
            if said[0].result.status == "PENDING":
                await asyncio.sleep(SEQUENCE_POLL_MS / 1000)


async def taken(line: Line) -> None:
    said = decode_broadcast(await line.read()).result
    if said.code:
        raise BenchFailed(f"the node refused a transfer with code {said.code}")


async def run(question: dict[str, Any]) -> dict[str, float]:
    sender = Sender(question)
    port = urlsplit(question["url"]).port
    assert port is not None
    line = await Line.open(port)
    watch = Watch()
    await sender.send(line)
    await sender.confirm(line)
    spent = watch.read()
    line.close()
    return spent


def main() -> None:
    import uvloop

    question = json.loads(sys.stdin.readline())
    print(json.dumps({"result": uvloop.run(run(question))}), flush=True)


if __name__ == "__main__":
    main()
