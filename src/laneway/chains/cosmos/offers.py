"""Offers signed bytes to every node, in the order of their sequences, and says what each answer
proves.

One at a time: what follows a refusal would only be refused for its sequence, and a node remembers
the first reason for ever. Whatever is not known to have stayed here may have arrived.
"""

import asyncio
import base64
from collections.abc import Sequence

from msgspec import json

from laneway.chains.cosmos.endpoint import CosmosEndpoint
from laneway.chains.cosmos.limits import CODE_MAX, OFFER_GRACE_MS, OFFER_MS
from laneway.chains.cosmos.phrases import expected_in
from laneway.chains.cosmos.shapes import BroadcastShape, message_of
from laneway.chains.nodes import offered
from laneway.chains.phrases import UnknownMessages, shorten
from laneway.core.cosmos import OfferAnswer, OfferKind
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.outcome import Outcome
from laneway.wire.jsonrpc import NodeBusy, Replies, Reply, RpcError

SEND = "broadcast_tx_sync"
REPLIES: Replies[BroadcastShape] = json.Decoder(list[Reply[BroadcastShape]] | Reply[BroadcastShape])


class Offers:
    """Sends, and counts the error messages that no table knows."""

    def __init__(self, *, grace_ms: int = OFFER_GRACE_MS) -> None:
        self.unknown_words = UnknownMessages()
        self._grace_s = grace_ms / 1000

    async def send(
        self, nodes: Sequence[CosmosEndpoint], raws: Sequence[bytes]
    ) -> list[list[OfferAnswer]]:
        """For each of the bytes, each node's answer in the order of the nodes."""

        async def offer(node: CosmosEndpoint, answered: list[OfferAnswer]) -> None:
            """One node's answers, one after the other, until it does not take one."""
            try:
                while len(answered) < len(raws):
                    await self._offer(node, raws[len(answered)], answered)
                    if answered[-1].kind.outcome() is not Outcome.ACCEPTED:
                        return
            finally:
                # The rest stays here.
                log = "not offered: one before it was not taken"
                unoffered = OfferAnswer(node.name, OfferKind.UNREACHABLE, log=log)
                answered += [unoffered] * (len(raws) - len(answered))

        return await offered(nodes, raws, offer, self._grace_s)

    async def _offer(self, node: CosmosEndpoint, raw: bytes, answered: list[OfferAnswer]) -> None:
        """Append the node's answer to these bytes, also when the time is over."""
        kind = OfferKind.UNREACHABLE
        try:
            await node.prepare(1)
            # From here on the bytes may leave.
            kind = OfferKind.SILENT
            text = base64.b64encode(raw).decode()
            (reply,) = await node.ask_each_prepared(SEND, [text], REPLIES, OFFER_MS)
            answered.append(self._judge(node, reply))
        except asyncio.CancelledError:
            # It was given no more time; what is under way may arrive.
            answered.append(OfferAnswer(node.name, kind, log="slower than the others"))
            raise
        except ChainUnreachable as error:
            unreachable = OfferKind.UNREACHABLE
            answered.append(OfferAnswer(node.name, unreachable, log=shorten(error.problem)))
        except NodeBusy as error:
            busy = OfferKind.RATE_LIMITED if kind is OfferKind.SILENT else kind
            answered.append(OfferAnswer(node.name, busy, log=shorten(str(error))))
        except ChainError as error:
            answered.append(OfferAnswer(node.name, kind, log=shorten(str(error))))

    def _judge(self, node: CosmosEndpoint, reply: BroadcastShape | RpcError) -> OfferAnswer:
        if isinstance(reply, RpcError):
            text, codespace = message_of(reply), ""
            kind = node.words.of_error(text)
            if kind is OfferKind.UNKNOWN:
                self.unknown_words.count_one(shorten(f"{reply.code} {text}"))
            code = reply.code if abs(reply.code) <= CODE_MAX else 0
        elif reply.code == 0:
            return OfferAnswer(node.name, OfferKind.TAKEN)
        else:
            text, codespace, code = reply.log, reply.codespace, reply.code
            kind = node.words.of_code(code, codespace, text)
        expected = expected_in(text) if kind is OfferKind.WRONG_SEQUENCE else None
        wanted = None if expected is None else expected[0]
        return OfferAnswer(node.name, kind, code, codespace, shorten(text), wanted)
