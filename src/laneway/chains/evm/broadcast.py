"""Offers signed bytes to every node, in order, and says what each answer proves.

Whatever is not known to have stayed here may have arrived: only a node's own no, or the proof that
nothing left, is a refusal.
"""

import asyncio
import re
from collections.abc import Sequence
from functools import partial

from msgspec import Raw, json

from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.limits import SEND_GRACE_MS, SEND_MS
from laneway.chains.nodes import offered
from laneway.chains.phrases import UnknownMessages, shorten
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.facts import SendAnswer, SendKind, sent
from laneway.wire.hex import octets
from laneway.wire.jsonrpc import NodeBusy, Replies, Reply, RpcError, cut

SEND = "eth_sendRawTransaction"
TAKEN: Replies[Raw] = json.Decoder(list[Reply[Raw]] | Reply[Raw])
"""A node answers with the hash, which we know."""
VARYING = re.compile(r"0x[0-9a-f]*|\b\d+\b", re.I)
"""Hashes, addresses and amounts: what makes two messages of one kind differ."""
FRAME_BYTES = 100
"""The JSON around the bytes of one call."""


class Broadcast:
    """Sends, and counts the error messages that no table knows."""

    def __init__(self, *, send_ms: int = SEND_MS, grace_ms: int = SEND_GRACE_MS) -> None:
        self.unknown_words = UnknownMessages()
        self._send_ms = send_ms
        self._grace_s = grace_ms / 1000

    async def send(
        self, nodes: Sequence[EvmEndpoint], raws: Sequence[bytes]
    ) -> list[list[SendAnswer]]:
        """For each of the bytes, each node's answer in the order of the nodes."""
        offer = partial(self._offer, raws, any(not node.is_resting() for node in nodes))
        return await offered(nodes, raws, offer, self._grace_s)

    async def _offer(
        self, raws: Sequence[bytes], some_work: bool, node: EvmEndpoint, answered: list[SendAnswer]
    ) -> None:
        """One node's answers, batch after batch, appended as they come."""
        if some_work and node.is_resting():
            reason = "not offered: it failed a moment ago, and other nodes work"
            answered += [sent(node.name, SendKind.UNREACHABLE, reason)] * len(raws)
            return

        def give_up(batch_count: int, kind: SendKind, reason: str) -> None:
            """Answer for a batch, and for the rest, which stays here: what follows a doubt would
            wait for it anyway."""
            answered.extend([sent(node.name, kind, shorten(reason))] * batch_count)
            unoffered = sent(node.name, SendKind.UNREACHABLE, shorten(f"not offered: {reason}"))
            answered.extend([unoffered] * (len(raws) - len(answered)))

        for batch in cut(raws, lambda raw: 2 * len(raw) + FRAME_BYTES):
            kind, reason = SendKind.UNREACHABLE, ""
            try:
                await node.prepare(len(batch))
                # From here on the bytes may leave.
                kind = SendKind.SILENT
                texts = [octets(raw) for raw in batch]
                answers = await node.ask_each_prepared(SEND, texts, TAKEN, self._send_ms)
                taken = sent(node.name, SendKind.TAKEN)
                answered += [
                    self._judge(node, answer) if isinstance(answer, RpcError) else taken
                    for answer in answers
                ]
                continue
            except asyncio.CancelledError:
                # It was given no more time; what is under way may arrive.
                give_up(len(batch), kind, "slower than the others")
                raise
            except ChainUnreachable as error:
                kind, reason = SendKind.UNREACHABLE, error.problem
            except NodeBusy as error:
                # Of a greeting that was refused nothing followed.
                kind = SendKind.RATE_LIMITED if kind is SendKind.SILENT else kind
                reason = str(error)
            except ChainError as error:
                reason = str(error)
            give_up(len(batch), kind, reason)
            return

    def _judge(self, node: EvmEndpoint, answer: RpcError) -> SendAnswer:
        kind = node.kind(answer)
        if kind is SendKind.UNKNOWN:
            message = VARYING.sub("#", shorten(answer.message))
            self.unknown_words.count_one(f"{answer.code} {message}")
        return sent(node.name, kind, shorten(f"{answer.code} {answer.message}"))
