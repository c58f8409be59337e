"""The nodes of a chain as far as they fail, in every view of its lanes."""

from msgspec import Struct
from msgspec.structs import replace

from laneway.ports.nodes import NodesKnown, NodeStanding
from laneway.wire.times import to_time
from laneway.wire.values import Check, Lane, LaneHealth, Tx

GOES_ON = ("idle", "ready", "running")
"""States of a lane that say nothing of what holds it up."""


NEXT = "about_to_go_on"
"""The reason of a transaction that nothing holds up: its lane takes it with its next turn."""


class Outlook(Struct, frozen=True):
    """The nodes of one chain, as far as they fail."""

    count: int = 0
    """How many nodes the chain has."""
    bad: tuple[NodeStanding, ...] = ()

    def is_blocked(self) -> bool:
        """Whether no node is left that answers."""
        return 0 < self.count == len(self.bad)

    def words(self) -> str:
        listed = "; ".join(one.words() for one in self.bad)
        if self.is_blocked() or not self.bad:
            return listed
        return f"{len(self.bad)} of {self.count} nodes fail, the others are used: {listed}"

    def check(self, name: str, well: str) -> Check:
        """Ready as long as one node answers; `well` is the answer if each does."""
        return Check(name, not self.is_blocked(), self.words() or well)


def outlook_of(chain: object) -> Outlook:
    if not isinstance(chain, NodesKnown):
        return Outlook()
    found = chain.standings()
    return Outlook(len(found), tuple(one for one in found if one.trouble))


# Views, with what is known of the nodes.


def tx_at(tx: Tx, look: Outlook) -> Tx:
    """A transaction that waits for a node names it, and one that waits for nothing says so. A
    pause holds it up whatever the nodes do."""
    if tx.final or tx.reason.startswith("paused"):
        return tx
    if not look.is_blocked():
        return tx if tx.reason else replace(tx, reason=NEXT)
    trouble = look.bad[0].trouble
    reason = joined(f"{trouble}: {look.words()}", unsaid(tx.reason, look))
    parts = {kind: getattr(tx, kind) for kind in ("evm", "cosmos", "rollup")}
    named = {kind: part for kind, part in parts.items() if part is not None}
    waits = {kind: replace(part, wait_reason=trouble) for kind, part in named.items()}
    return replace(tx, reason=reason, **waits)


def lane_at(lane: Lane, look: Outlook) -> Lane:
    if not look.bad:
        return lane
    state, since, has_work = lane.state, lane.since, lane.waiting + lane.running > 0
    if look.is_blocked() and has_work and state in GOES_ON:
        state, since = "backing off", to_time(look.bad[0].since_ms)
    reason = joined(unsaid(lane.reason, look), look.words())
    return replace(lane, state=state, since=since, reason=reason)


def health_at(health: LaneHealth, look: Outlook) -> LaneHealth:
    """The health of a lane whose nodes are as they look; trouble that a problem of its own names is
    not said a second time."""
    if not look.bad:
        return health
    problems = []
    is_named = False
    for text in health.problems:
        rest = unsaid(text, look)
        problems.append(text if rest == text else f"{rest} {look.words()}")
        is_named = is_named or rest != text
    if not is_named:
        problems.append(look.words())
    return replace(health, healthy=False, problems=problems)


def unsaid(reason: str, look: Outlook) -> str:
    """What a lane's reason says beside the trouble of a node, which the node's own message names: a
    contract's lane keeps the error of its last try."""
    for one in look.bad:
        begin = reason.find(one.node)
        end = reason.find(one.problem, max(begin, 0))
        if begin >= 0 and end >= 0:
            left = reason[:begin], reason[end + len(one.problem) :]
            return joined(*(text.strip(" ;") for text in left))
    return reason


def joined(*texts: str) -> str:
    return "; ".join(text for text in texts if text)
