"""Offers signed bytes to every node, in order, and says what each answer proves.

Whatever is not known to have stayed here may have arrived: only a node's own no, or the proof that
nothing left, is a refusal.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Raw, json

from laneway.chains.evm.endpoint import Endpoint
from laneway.chains.evm.limits import SEND_GRACE_MS, SEND_MS, UNKNOWN_WORDS_MAX
from laneway.chains.grace import with_grace
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.facts import SendKind, Sent, sent
from laneway.core.limits import REASON_CHARS_MAX
from laneway.wire.hex import octets
from laneway.wire.jsonrpc import NodeBusy, Replies, Reply, RpcError, cut

SEND = "eth_sendRawTransaction"
TAKEN: Replies[Raw] = json.Decoder(list[Reply[Raw]] | Reply[Raw])
"""A node answers with the hash, which we know."""
VARYING = re.compile(r"0x[0-9a-f]*|\b\d+\b", re.I)
"""Hashes, addresses and amounts: what makes two messages of one kind differ."""
OTHERS = "others"
"""Where messages are counted that would be one too many."""
FRAME_BYTES = 100
"""What stands around the bytes of one call."""


class Broadcast:
    """Sends, and keeps count of the words that no table knows."""

    def __init__(self, *, send_ms: int = SEND_MS, grace_ms: int = SEND_GRACE_MS) -> None:
        self.unknown_words: Counter[str] = Counter()
        self._send_ms = send_ms
        self._grace_s = grace_ms / 1000

    async def send(self, nodes: Sequence[Endpoint], raws: Sequence[bytes]) -> list[list[Sent]]:
        """For each of the bytes, each node's answer, in the order of the nodes."""
        if not raws:
            return []
        some_work = any(not node.is_resting() for node in nodes)
        answered: list[list[Sent]] = [[] for _ in nodes]
        offers = [
            self._offer(node, raws, place, some_work)
            for node, place in zip(nodes, answered, strict=True)
        ]
        await with_grace(offers, self._grace_s)
        return [list(answers) for answers in zip(*answered, strict=True)]

    async def _offer(
        self, node: Endpoint, raws: Sequence[bytes], answered: list[Sent], some_work: bool
    ) -> None:
        """One node's answers, batch after batch, appended as they come."""
        if some_work and node.is_resting():
            reason = "not offered: it failed a moment ago, and other nodes work"
            answered += [sent(node.name, SendKind.UNREACHABLE, reason)] * len(raws)
            return
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
                self._give_up(node, raws, answered, len(batch), kind, "slower than the others")
                raise
            except ChainUnreachable as error:
                kind, reason = SendKind.UNREACHABLE, error.problem
            except NodeBusy as error:
                # Of a greeting that was refused nothing followed.
                kind = SendKind.RATE_LIMITED if kind is SendKind.SILENT else kind
                reason = str(error)
            except ChainError as error:
                reason = str(error)
            self._give_up(node, raws, answered, len(batch), kind, reason)
            return

    def _give_up(
        self,
        node: Endpoint,
        raws: Sequence[bytes],
        answered: list[Sent],
        batch_count: int,
        kind: SendKind,
        reason: str,
    ) -> None:
        """Answer for a batch, and for the rest, which stays here: what comes behind a doubt would
        wait for it anyway."""
        answered += [sent(node.name, kind, shorten(reason))] * batch_count
        unoffered = sent(node.name, SendKind.UNREACHABLE, shorten(f"not offered: {reason}"))
        answered += [unoffered] * (len(raws) - len(answered))

    def _judge(self, node: Endpoint, answer: RpcError) -> Sent:
        kind = node.kind(answer)
        if kind is SendKind.UNKNOWN:
            self._count_unknown(answer)
        return sent(node.name, kind, shorten(f"{answer.code} {answer.message}"))

    def _count_unknown(self, answer: RpcError) -> None:
        message = VARYING.sub("#", shorten(answer.message))
        words = f"{answer.code} {message}"
        is_new = words not in self.unknown_words
        if is_new and len(self.unknown_words) >= UNKNOWN_WORDS_MAX:
            words = OTHERS
        self.unknown_words[words] += 1


def shorten(reason: str) -> str:
    return reason[:REASON_CHARS_MAX]
