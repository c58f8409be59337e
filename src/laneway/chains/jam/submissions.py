"""Offers a package to nodes in turn, until one takes it or may have it.

A node's refusal is followed by the next core, if the caller allows one, and then by the next node.
Doubt ends it: whatever is not known to have stayed here may land, and all that may follow is the
same bytes again.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from laneway.chains.jam.limits import OFFERS_MAX, SUBMIT_ALL_MS, SUBMIT_MS
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.words import answer_of
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.jam import May, Package, PackageAnswer, PackageKind, Submission
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.outcome import Outcome
from laneway.wire.jip2 import call
from laneway.wire.jsonrpc import RpcCall, RpcError


class Submissions:
    """Sends, and keeps count of the words that no table knows."""

    def __init__(self, *, submit_ms: int = SUBMIT_MS, submit_all_ms: int = SUBMIT_ALL_MS) -> None:
        self.unknown_words: Counter[str] = Counter()
        self._submit_ms = submit_ms
        self._submit_all_s = submit_all_ms / 1000

    async def submit(
        self, nodes: Sequence[JamNode], package: Package, cores: Sequence[int]
    ) -> Submission:
        assert cores
        answers: list[PackageAnswer] = []
        until_s = asyncio.get_running_loop().time() + self._submit_all_s
        for node in sorted(nodes, key=lambda one: (one.is_resting(), one.turned_away)):
            async for answer in self._at_node(node, package, cores):
                answers.append(answer)
                if answer.outcome is not Outcome.REFUSED:
                    return Submission(tuple(answers), final=False)
                if len(answers) == OFFERS_MAX or asyncio.get_running_loop().time() > until_s:
                    return Submission(tuple(answers), final=False)
        return Submission(tuple(answers), is_refused_by_all(nodes, answers))

    async def preimage(
        self, nodes: Sequence[JamNode], requester: int, preimage: bytes
    ) -> Submission:
        answers: list[PackageAnswer] = []
        for node in sorted(nodes, key=JamNode.is_resting):
            answers.append(
                await self._offer(node, None, call("submitPreimage", requester, preimage))
            )
            if answers[-1].outcome is not Outcome.REFUSED:
                return Submission(tuple(answers), final=False)
        return Submission(tuple(answers), is_refused_by_all(nodes, answers))

    async def _at_node(
        self, node: JamNode, package: Package, cores: Sequence[int]
    ) -> AsyncIterator[PackageAnswer]:
        """Its answers for one core after the other, as far as another core may help."""
        for core in cores:
            for offered in calls_for(package, core):
                answer = await self._offer(node, core, offered)
                node.turned_away = answer.outcome is Outcome.REFUSED
                yield answer
                if answer.kind is not PackageKind.UNSUPPORTED:
                    break
            if May.OTHER_CORE not in answer.may:
                return

    async def _offer(self, node: JamNode, core: int | None, offered: RpcCall) -> PackageAnswer:
        kind = PackageKind.UNREACHABLE
        try:
            await node.prepare(1)
            # From here on the bytes may leave.
            kind = PackageKind.SILENT
            (said,) = await node.ask_prepared([offered], self._submit_ms)
        except ChainUnreachable as error:
            return answer_of(node.name, core, PackageKind.UNREACHABLE, error.problem)
        except ChainError as error:
            return answer_of(node.name, core, kind, str(error))
        if isinstance(said, RpcError):
            return self._judge(node, core, said)
        return answer_of(node.name, core, PackageKind.TAKEN)

    def _judge(self, node: JamNode, core: int | None, error: RpcError) -> PackageAnswer:
        words = f"{error.code} {error.message}"[:REASON_CHARS_MAX]
        kind = node.kind(error)
        if kind is PackageKind.UNKNOWN:
            self.unknown_words[words] += 1
        return answer_of(node.name, core, kind, words)


def calls_for(package: Package, core: int) -> list[RpcCall]:
    """A bundle first, where there is one: the package alone lacks what it imports."""
    calls: list[RpcCall] = []
    if package.bundle:
        calls.append(call("submitWorkPackageBundle", core, package.bundle))
    if package.encoded:
        calls.append(call("submitWorkPackage", core, package.encoded, package.extrinsics))
    assert calls
    return calls


def is_refused_by_all(nodes: Sequence[JamNode], answers: Sequence[PackageAnswer]) -> bool:
    """Whether each of the nodes gave a refusal that is final, for some core."""
    final = [answer.node for answer in answers if answer.final]
    return all(node.name in final for node in nodes)
