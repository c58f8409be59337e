"""Offers signed bytes to every node, in the order of their sequences, and says what each answer
proves.

One at a time: what comes behind a refusal would only be refused for its sequence, and a node
remembers the first reason for ever. Whatever is not known to have stayed here may have arrived.
"""

import asyncio
import base64
from collections import Counter
from collections.abc import Sequence

from msgspec import json

from laneway.chains.cosmos.endpoint import CosmosEndpoint
from laneway.chains.cosmos.limits import CODE_MAX, OFFER_GRACE_MS, OFFER_MS, UNKNOWN_WORDS_MAX
from laneway.chains.cosmos.shapes import BroadcastShape, words_of
from laneway.chains.cosmos.words import expected_in
from laneway.chains.grace import with_grace
from laneway.core.cosmos import Offered, OfferKind
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.outcome import Outcome
from laneway.wire.jsonrpc import NodeBusy, Replies, Reply, RpcError

SEND = "broadcast_tx_sync"
OTHERS = "others"
"""Where error messages beyond the bound are counted."""
REPLIES: Replies[BroadcastShape] = json.Decoder(list[Reply[BroadcastShape]] | Reply[BroadcastShape])


class Offers:
    """Sends, and keeps count of the words that no table knows."""

    def __init__(self, *, offer_ms: int = OFFER_MS, grace_ms: int = OFFER_GRACE_MS) -> None:
        self.unknown_words: Counter[str] = Counter()
        self._offer_ms = offer_ms
        self._grace_s = grace_ms / 1000

    async def send(
        self, nodes: Sequence[CosmosEndpoint], raws: Sequence[bytes]
    ) -> list[list[Offered]]:
        """For each of the bytes, each node's answer, in the order of the nodes."""
        if not raws:
            return []
        answered: list[list[Offered]] = [[] for _ in nodes]
        offers = [
            self._offer(node, raws, place) for node, place in zip(nodes, answered, strict=True)
        ]
        await with_grace(offers, self._grace_s)
        return [list(answers) for answers in zip(*answered, strict=True)]

    async def _offer(
        self, node: CosmosEndpoint, raws: Sequence[bytes], answered: list[Offered]
    ) -> None:
        """One node's answers, one after the other, until it does not take one."""
        while len(answered) < len(raws):
            kind, reason = OfferKind.UNREACHABLE, "slower than the others"
            try:
                await node.prepare(1)
                # From here on the bytes may leave.
                kind = OfferKind.SILENT
                text = base64.b64encode(raws[len(answered)]).decode()
                (said,) = await node.ask_each_prepared(SEND, [text], REPLIES, self._offer_ms)
                offered = self._judge(node, said)
            except asyncio.CancelledError:
                # It was given no more time; what is under way may arrive.
                self._give_up(node, raws, answered, kind, reason)
                raise
            except ChainUnreachable as error:
                offered = Offered(node.name, OfferKind.UNREACHABLE, log=shorten(error.problem))
            except NodeBusy as error:
                busy = OfferKind.RATE_LIMITED if kind is OfferKind.SILENT else kind
                offered = Offered(node.name, busy, log=shorten(str(error)))
            except ChainError as error:
                offered = Offered(node.name, kind, log=shorten(str(error)))
            answered.append(offered)
            if offered.kind.outcome() is not Outcome.ACCEPTED:
                self._leave(node, raws, answered)
                return

    def _give_up(
        self,
        node: CosmosEndpoint,
        raws: Sequence[bytes],
        answered: list[Offered],
        kind: OfferKind,
        reason: str,
    ) -> None:
        answered.append(Offered(node.name, kind, log=reason))
        self._leave(node, raws, answered)

    def _leave(self, node: CosmosEndpoint, raws: Sequence[bytes], answered: list[Offered]) -> None:
        """The rest stays here."""
        log = "not offered: one before it was not taken"
        unoffered = Offered(node.name, OfferKind.UNREACHABLE, log=log)
        answered += [unoffered] * (len(raws) - len(answered))

    def count_unknown(self, text: str) -> None:
        """Error messages beyond the bound are counted together."""
        is_known = text in self.unknown_words or len(self.unknown_words) < UNKNOWN_WORDS_MAX
        self.unknown_words[text if is_known else OTHERS] += 1

    def _judge(self, node: CosmosEndpoint, said: BroadcastShape | RpcError) -> Offered:
        if isinstance(said, RpcError):
            text = words_of(said)
            kind = node.words.of_error(text)
            if kind is OfferKind.UNKNOWN:
                self.count_unknown(f"{said.code} {text}"[:REASON_CHARS_MAX])
            code = said.code if abs(said.code) <= CODE_MAX else 0
            return Offered(node.name, kind, code, "", shorten(text), wanted(kind, text))
        if said.code == 0:
            return Offered(node.name, OfferKind.TAKEN)
        kind = node.words.of_code(said.code, said.codespace, said.log)
        return Offered(
            node.name, kind, said.code, said.codespace, shorten(said.log), wanted(kind, said.log)
        )


def wanted(kind: OfferKind, text: str) -> int | None:
    if kind is not OfferKind.WRONG_SEQUENCE:
        return None
    found = expected_in(text)
    return None if found is None else found[0]


def shorten(reason: str) -> str:
    return reason[:REASON_CHARS_MAX]
