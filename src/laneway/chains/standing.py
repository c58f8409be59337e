"""One node's standing: set by every answer and every failure, and logged when it changes."""

import logging
from time import monotonic, time

from laneway.chains.limits import STANDING_LINES_MAX, STANDING_LOG_S
from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.text import printable
from laneway.core.urls import shown_url
from laneway.ports.nodes import BUSY, UNREACHABLE, UNREADABLE, WRONG_CHAIN, NodeStanding
from laneway.wire.jsonrpc import NodeBusy, RpcAnswerLost

log = logging.getLogger("laneway.nodes")

BEHIND = "node_behind"
"""The trouble of a node that answers, and shows a chain which others have left far behind. Nothing
waits for it alone."""


class NodeOfOtherChain(ChainUnreachable):
    """A node answers for another chain; nothing was sent to it."""

    code = "wrong_chain"


class StandingKeeper:
    """Kept by the adapter of one node."""

    def __init__(self, url: str) -> None:
        self.now = NodeStanding(shown_url(url))
        self.heard_s = float("-inf")
        """When it answered last, by the monotonic clock."""
        self._logged_s = float("-inf")
        self._logged: list[str] = []
        """What was logged of it since it answered last."""
        self._is_unfit = False

    @property
    def is_unfit(self) -> bool:
        return self._is_unfit

    def unfit(self) -> None:
        """It answers, and what it says is of no use: its trouble lasts until it is `fit`."""
        self._is_unfit = True

    def fit(self) -> None:
        self._is_unfit = False
        self.answered()

    def answered(self) -> None:
        self.heard_s = monotonic()
        if self.now.trouble not in ("", BEHIND) and not self._is_unfit:
            log.info("Node answers again: node %s", self.now.node)
            self._well()

    def behind(self, problem: str) -> None:
        """It answers, and what it shows is old; empty: it is level with the others."""
        if problem:
            self._troubled(BEHIND, problem)
        elif self.now.trouble == BEHIND:
            log.info("Node is level again: node %s", self.now.node)
            self._well()

    def failed(self, error: Exception) -> None:
        self._troubled(*read_trouble(error))

    def _well(self) -> None:
        self.now = NodeStanding(self.now.node)
        self._logged.clear()

    def _troubled(self, trouble: str, problem: str) -> None:
        before, now_s = self.now, monotonic()
        since_ms = before.since_ms if before.trouble == trouble else int(time() * 1000)
        self.now = NodeStanding(before.node, trouble, problem, since_ms)
        words = f"{trouble}: {self.now.words()}"
        is_due = len(self._logged) < STANDING_LINES_MAX or now_s - self._logged_s >= STANDING_LOG_S
        if is_due and words not in self._logged:
            self._logged_s = now_s
            self._logged = [*self._logged[1 - STANDING_LINES_MAX :], words]
            log.warning("%s", words)


def read_trouble(error: Exception) -> tuple[str, str]:
    """The name of a failure, and its words to be read after the node's address."""
    found = UNREACHABLE, f"does not answer: {error}"
    if isinstance(error, NodeOfOtherChain):
        found = WRONG_CHAIN, error.problem
    elif isinstance(error, ChainUnreachable):
        found = UNREACHABLE, f"cannot be reached: {error.problem}"
    elif isinstance(error, RpcAnswerLost):
        found = UNREACHABLE, f"does not answer: {error.problem}"
    elif isinstance(error, NodeBusy):
        found = BUSY, f"is busy: HTTP {error.status}"
    elif isinstance(error, ChainUnreadable):
        found = UNREADABLE, f"answers what cannot be read: {error.answer}"
    trouble, problem = found
    return trouble, printable(problem[:REASON_CHARS_MAX])
