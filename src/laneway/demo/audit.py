"""The demo's verdict, from the chain's own history and from the answers that callers got."""

from collections import Counter
from collections.abc import Mapping, Sequence

from laneway.demo.values import ContractRow, PaymentRow
from laneway.devnets.contract.model import ContractBlock, ContractChain, RoundEnded
from laneway.wiring.worker_lines import EndedLine


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
    history: Sequence[ContractBlock],
    sent: Sequence[tuple[str, str]],
    ended: Mapping[str, EndedLine],
) -> ContractRow:
    """Compare a contract's blocks with its submissions, (key, data) in the order of sending."""
    found = [block.data for block in history if block.number > 0]
    wanted = [data for _, data in sent]
    times = Counter(found)
    return ContractRow(
        contract=contract,
        sent=len(wanted),
        on_chain=len(found),
        duplicates=sum(count - 1 for count in times.values()),
        conflicts=sum(1 for key, _ in sent if key in ended and ended[key].status != "confirmed"),
        in_order=found == wanted,
        gaps=sum(1 for data in wanted if data not in times),
    )


def audit_payments(
    account: str,
    mined: Sequence[tuple[int, int]],
    sent: Sequence[tuple[str, int]],
    accepted: int,
    ended: Mapping[str, EndedLine],
) -> PaymentRow:
    """Compare what the chain has of an account, (nonce, value) in the chain's order, with its
    payments, (key, value) in the order of sending. No two payments have the same value."""
    nonces = [nonce for nonce, _ in mined]
    found = [value for _, value in mined if value]
    wanted = [value for _, value in sent]
    times = Counter(found)
    return PaymentRow(
        account=account,
        accepted=accepted,
        once=sum(1 for value in wanted if times[value] == 1),
        twice=sum(1 for count in times.values() if count > 1),
        lost=sum(1 for value in wanted if value not in times),
        wrong=sum(1 for key, _ in sent if key in ended and ended[key].status != "confirmed"),
        no_ops=len(mined) - len(found),
        nonces=len(nonces),
        dense=nonces == list(range(len(nonces))),
        in_order=found == wanted,
    )
