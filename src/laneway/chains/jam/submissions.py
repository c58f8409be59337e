"""Offers a package to every node at once: one that takes it may never pass it on.

A node's refusal is followed by the next core, if the caller allows one. Doubt ends it at that node:
whatever is not known to have stayed here may land, and all that may follow is the same bytes again.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from laneway.chains.endpoint import loop_s
from laneway.chains.jam.limits import OFFERS_MAX, SUBMIT_ALL_MS, SUBMIT_MS
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.phrases import answer_of
from laneway.chains.phrases import UnknownMessages, shorten
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.jam import May, Package, PackageAnswer, PackageKind, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.wire.jip2 import call
from laneway.wire.jsonrpc import CallWithheld, RpcCall, RpcError, WritePermit


class Submissions:
    """Sends, and counts the error messages that no table knows."""

    def __init__(self, *, submit_ms: int = SUBMIT_MS, submit_all_ms: int = SUBMIT_ALL_MS) -> None:
        self.unknown_words = UnknownMessages()
        self._submit_ms = submit_ms
        self._submit_all_s = submit_all_ms / 1000

    async def submit(
        self,
        nodes: Sequence[JamNode],
        package: Package,
        cores: Sequence[int],
        permit: WritePermit,
    ) -> SubmissionAnswers:
        assert cores
        until_s = loop_s() + self._submit_all_s
        offers = {
            asyncio.create_task(self._at_node(node, package, cores, permit, until_s)): node
            for node in nodes
        }
        try:
            await enough(offers)
        finally:
            for offer in offers:
                offer.cancel()
            await asyncio.gather(*offers, return_exceptions=True)
        answers = [answer for offer, node in offers.items() for answer in said(offer, node)]
        return SubmissionAnswers(tuple(answers), is_refused_by_all(nodes, answers))

    async def preimage(
        self, nodes: Sequence[JamNode], requester: int, preimage: bytes
    ) -> SubmissionAnswers:
        answers: list[PackageAnswer] = []
        offered = call("submitPreimage", requester, preimage)
        for node in sorted(nodes, key=JamNode.is_resting):
            answers.append(await self._offer(node, None, offered, always))
            if answers[-1].outcome is not Outcome.REFUSED:
                return SubmissionAnswers(tuple(answers), final=False)
        return SubmissionAnswers(tuple(answers), is_refused_by_all(nodes, answers))

    async def _at_node(
        self,
        node: JamNode,
        package: Package,
        cores: Sequence[int],
        permit: WritePermit,
        until_s: float,
    ) -> list[PackageAnswer]:
        """Its answers for one core after the other, as far as another core may help."""
        answers: list[PackageAnswer] = []
        for core in cores:
            for offered in calls_for(package, core):
                answer = await self._offer(node, core, offered, permit)
                answers.append(answer)
                if len(answers) == OFFERS_MAX or loop_s() > until_s:
                    return answers
                if answer.kind is not PackageKind.UNSUPPORTED:
                    break
            if answer.outcome is not Outcome.REFUSED or May.OTHER_CORE not in answer.may:
                break
        return answers

    async def _offer(
        self, node: JamNode, core: int | None, offered: RpcCall, permit: WritePermit
    ) -> PackageAnswer:
        kind = PackageKind.UNREACHABLE
        try:
            await node.prepare(1)
            # From here on the bytes may leave.
            kind = PackageKind.SILENT
            answer = await node.offer(offered, self._submit_ms, permit)
        except CallWithheld as error:
            return answer_of(node.name, core, PackageKind.UNREACHABLE, error.reason)
        except ChainUnreachable as error:
            return answer_of(node.name, core, PackageKind.UNREACHABLE, error.problem)
        except ChainError as error:
            return answer_of(node.name, core, kind, str(error))
        if isinstance(answer, RpcError):
            return self._judge(node, core, answer)
        return answer_of(node.name, core, PackageKind.TAKEN)

    def _judge(self, node: JamNode, core: int | None, error: RpcError) -> PackageAnswer:
        message = shorten(f"{error.code} {error.message}")
        kind = node.kind(error)
        if kind is PackageKind.UNKNOWN:
            self.unknown_words.count_one(message)
        return answer_of(node.name, core, kind, message)


def always() -> str:
    """The permit of what may be sent at any time."""
    return ""


Offer: TypeAlias = "asyncio.Task[list[PackageAnswer]]"


async def enough(offers: Mapping[Offer, JamNode]) -> None:
    """Until all nodes have answered, or one has it and the others had a moment more: the bytes go
    to each of them again soon, and a silent one keeps nobody."""
    open_ = set(offers)
    grace_s: float | None = None
    while open_:
        done, open_ = await asyncio.wait(
            open_, timeout=grace_s, return_when=asyncio.FIRST_COMPLETED
        )
        if not done:
            return
        if grace_s is None and any(is_taken(offer) for offer in done):
            grace_s = max(node.hedge_s() for node in offers.values())


def is_taken(offer: Offer) -> bool:
    return any(answer.outcome is Outcome.ACCEPTED for answer in offer.result())


def said(offer: Offer, node: JamNode) -> list[PackageAnswer]:
    """The answers of one node; of one that was not waited for nobody knows."""
    if offer.cancelled():
        return [answer_of(node.name, None, PackageKind.SILENT, "no answer when others had it")]
    return offer.result()


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
    """Whether each of the nodes gave a refusal that is final; it is that node's last answer."""
    final = [answer.node for answer in answers if answer.final]
    return all(node.name in final for node in nodes)
