"""Offers a package to every node at once: one that takes it may never pass it on.

A node's refusal is followed by the next core, if the caller allows one. Doubt ends it at that node:
whatever is not known to have stayed here may land, and all that may follow is the same bytes again.

A node that is slower than the others holds up no answer, and is offered the bytes all the same.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from laneway.chains.endpoint import loop_s
from laneway.chains.jam.limits import BEHIND_MAX, OFFERS_MAX, QUIET_HEDGES, SUBMIT_ALL_MS
from laneway.chains.jam.node import JamNode
from laneway.chains.jam.phrases import answer_of
from laneway.chains.phrases import UnknownMessages, shorten
from laneway.core.errors import ChainError, ChainUnreachable
from laneway.core.jam import May, Package, PackageAnswer, PackageKind, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.wire.jip2 import call
from laneway.wire.jsonrpc import CallWithheld, RpcCall, RpcError, WritePermit


class Offer:
    """A package on its way to one node, for one core after the other."""

    def __init__(
        self,
        node: JamNode,
        package: Package,
        cores: Sequence[int],
        why_not: WritePermit,
        carry_out: Callable[["Offer"], Coroutine[None, None, None]],
    ) -> None:
        self.node = node
        self.package = package
        self.cores = cores
        self.why_not = why_not
        """The permit of the last submission that it belongs to."""
        self.answers: list[PackageAnswer] = []
        self.answered_s = float("-inf")
        """When the newest of them came."""
        self.is_written = False
        """Whether bytes of it may have left."""
        self.end: asyncio.TimerHandle | None = None
        """Of an offer that nobody waits for: when it is given up."""
        self.task = asyncio.create_task(carry_out(self))

    def permit(self) -> str:
        """Asked right before bytes are written."""
        reason = self.why_not()
        self.is_written = self.is_written or not reason
        return reason

    def is_taken(self) -> bool:
        return any(answer.outcome is Outcome.ACCEPTED for answer in self.answers)

    def said(self) -> list[PackageAnswer]:
        """The node's answers so far. If it has not given its last one, nobody knows what it will
        do with the package."""
        if self.task.done() and not self.task.cancelled():
            self.task.result()  # An exception is a bug, and raised.
            return self.answers
        silent = answer_of(
            self.node.name, None, PackageKind.SILENT, "no answer while others gave theirs"
        )
        return [*self.answers, silent]


class Submissions:
    """Sends, and counts the error messages that no table knows."""

    def __init__(self, *, submit_ms: int | None = None, submit_all_ms: int = SUBMIT_ALL_MS) -> None:
        self.unknown_words = UnknownMessages()
        self._submit_ms = submit_ms
        self._submit_all_s = submit_all_ms / 1000
        self._offers: dict[asyncio.Task[None], Offer] = {}
        """All that are under way."""
        self._behind: list[Offer] = []
        """Those among them that nobody waits for: their submission was answered without them."""

    async def submit(
        self,
        nodes: Sequence[JamNode],
        package: Package,
        cores: Sequence[int],
        permit: WritePermit,
    ) -> SubmissionAnswers:
        """The answers of all nodes, or of those that others need not wait for any longer. What was
        not written by then goes on: a node that is always slower than the others would never be
        sent anything."""
        assert cores
        offers = [self._begun(node, package, cores, permit) for node in nodes]
        try:
            await enough(offers)
        except asyncio.CancelledError:
            await self._cancel([offer.task for offer in offers])
            raise
        for offer in offers:
            self._leave_behind(offer)
        answers = [answer for offer in offers for answer in offer.said()]
        return SubmissionAnswers(tuple(answers), is_refused_by_all(nodes, answers))

    async def aclose(self) -> None:
        await self._cancel(list(self._offers))

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

    def _begun(
        self, node: JamNode, package: Package, cores: Sequence[int], permit: WritePermit
    ) -> Offer:
        """An offer of this package to this node. One that still goes on is taken up again if the
        bytes have not left; if they have, the node is offered them once more."""
        for offer in self._behind:
            if offer.node is node and offer.package == package:
                self._take_up(offer)
                if not offer.is_written:
                    offer.why_not = permit
                    return offer
                offer.task.cancel()
                break
        offer = Offer(node, package, cores, permit, self._carry_out)
        self._offers[offer.task] = offer
        offer.task.add_done_callback(self._ended)
        return offer

    def _leave_behind(self, offer: Offer) -> None:
        """Let it go on while nobody waits for it, within bounds. Its answer goes to nobody."""
        if offer.task.done():
            return
        same_node = [one for one in self._behind if one.node is offer.node]
        if len(same_node) >= BEHIND_MAX or any(one.package == offer.package for one in same_node):
            offer.task.cancel()
            return
        loop = asyncio.get_running_loop()
        offer.end = loop.call_later(self._time_ms(offer.node) / 1000, offer.task.cancel)
        self._behind.append(offer)

    def _time_ms(self, node: JamNode) -> int:
        return self._submit_ms or node.submit_ms()

    def _take_up(self, offer: Offer) -> None:
        self._behind.remove(offer)
        assert offer.end is not None
        offer.end.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        offer = self._offers.pop(task)
        if offer in self._behind:
            self._take_up(offer)

    async def _cancel(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _carry_out(self, offer: Offer) -> None:
        """One core after the other, as far as another core may help."""
        until_s = loop_s() + self._submit_all_s
        answers = offer.answers
        for core in offer.cores:
            for offered in calls_for(offer.package, core):
                answer = await self._offer(offer.node, core, offered, offer.permit)
                answers.append(answer)
                offer.answered_s = loop_s()
                if len(answers) == OFFERS_MAX or loop_s() > until_s:
                    return
                if answer.kind is not PackageKind.UNSUPPORTED:
                    break
            if answer.outcome is not Outcome.REFUSED or May.OTHER_CORE not in answer.may:
                return

    async def _offer(
        self, node: JamNode, core: int | None, offered: RpcCall, permit: WritePermit
    ) -> PackageAnswer:
        kind = PackageKind.UNREACHABLE
        try:
            await node.prepare(1)
            # From here on the bytes may leave.
            kind = PackageKind.SILENT
            answer = await node.offer(offered, self._time_ms(node), permit)
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


async def enough(offers: Sequence[Offer]) -> None:
    """Until all nodes have answered, or those that still can have had some time more: a silent one
    keeps nobody. A node that was never reached is no reason to wait less for the others."""
    hedge_s = max(offer.node.hedge_s() for offer in offers)
    open_ = {offer.task: offer for offer in offers}
    left_s: float | None = None
    taken_s: float | None = None
    while open_ and (left_s is None or left_s > 0):
        done, _ = await asyncio.wait(open_, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        ended = [open_.pop(task) for task in done]
        if taken_s is None and any(offer.is_taken() for offer in ended):
            taken_s = loop_s()
        if taken_s is not None:
            left_s = taken_s + hedge_s - loop_s()
        elif any(offer.is_written and offer not in open_.values() for offer in offers):
            # Another core at the same node is an answer on the way.
            quiet_since_s = max(offer.answered_s for offer in offers)
            left_s = quiet_since_s + QUIET_HEDGES * hedge_s - loop_s()


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
