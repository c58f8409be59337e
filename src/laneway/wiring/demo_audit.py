"""The demo's verdict, from the chain's own history and from what the callers were told."""

from collections import Counter
from collections.abc import Mapping, Sequence

from laneway.devnets.contract.model import Block, ContractChain, RoundEnded
from laneway.wiring.demo_values import Row
from laneway.wiring.worker_lines import Ended


class WatchedChain(ContractChain):
    """A chain that counts the rounds it refused because their parent was no longer the latest."""

    def __init__(self, *, round_ms: int) -> None:
        super().__init__(round_ms=round_ms)
        self.conflicts: Counter[str] = Counter()

    def step(self, now_ms: int) -> list[RoundEnded]:
        ended = super().step(now_ms)
        self.conflicts.update(end.contract for end in ended if end.conflict)
        return ended


def audit(
    contract: str,
    history: Sequence[Block],
    sent: Sequence[tuple[str, str]],
    ended: Mapping[str, Ended],
) -> Row:
    """Compare a contract's blocks with its submissions, (key, data) in the order of sending."""
    found = [block.data for block in history if block.number > 0]
    wanted = [data for _, data in sent]
    times = Counter(found)
    return Row(
        contract=contract,
        sent=len(wanted),
        on_chain=len(found),
        duplicates=sum(count - 1 for count in times.values()),
        conflicts=sum(1 for key, _ in sent if key in ended and ended[key].status != "confirmed"),
        in_order=found == wanted,
        gaps=sum(1 for data in wanted if data not in times),
    )
