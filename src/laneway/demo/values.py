"""What the demo plans, shows and finds: plain values for the code that draws them."""

from typing import Protocol

from msgspec import Struct


class DemoPlan(Struct, frozen=True, kw_only=True):
    contracts: int = 10
    executions: int = 30
    kills: int = 4
    round_ms: int = 150
    accounts: int = 3
    payments: int = 100
    """Of each account, sent as the executions land, so that every kill hits some of them."""
    block_ms: int = 250
    """Between the blocks of the EVM chain."""
    seed: int = 0
    folder: str | None = None
    """Where to work, and to leave everything; a temporary folder otherwise."""

    def total(self) -> int:
        return self.contracts * self.executions

    def held_back(self) -> int:
        """Executions of each contract that are sent right before each kill."""
        if self.kills == 0:
            return 0
        half = max(1, self.executions // (2 * self.kills))
        return min(max(1, self.executions // 10), half)

    def landed_at_kill(self, number: int) -> int:
        """Kill number 1, 2 … of 4 comes when 1/6, 2/6 … of all executions have landed."""
        return max(1, self.total() * number // (self.kills + 2))

    def payments_due(self, landed: int) -> int:
        """How many payments of each account are sent when `landed` executions have landed."""
        first = max(1, self.payments // 10)
        return min(self.payments, max(first, self.payments * landed // self.total()))

    def paid_ahead(self) -> int:
        """Payments of each account that are sent early, right before each kill."""
        return max(1, self.payments // 20)


class DemoSnapshot(Struct, frozen=True):
    at_s: float
    landed: dict[str, int]
    running: dict[str, int]
    """Consensus rounds under way."""
    sent: int
    answered: int
    kills: int
    worker: str
    paid: dict[str, int] = {}
    """Payments of each account that are mined."""


class Surroundings(Struct, frozen=True):
    """What one can look at while the demo stays up."""

    url: str
    folder: str
    database: str
    log: str
    contract: str
    pid: int | None
    node: str = ""
    """Where the EVM chain answers, if there is one."""


class ContractRow(Struct, frozen=True):
    """One contract, as the chain has it."""

    contract: str
    sent: int
    on_chain: int
    """Blocks after genesis, no matter who made them."""
    duplicates: int
    conflicts: int
    """Executions whose caller got another answer than a confirmation."""
    in_order: bool
    """Block k holds exactly the k-th submission, and there is no other block."""
    gaps: int
    """Submissions that are not on the chain."""

    def is_right(self) -> bool:
        return self.in_order and self.duplicates == self.conflicts == self.gaps == 0


class PaymentRow(Struct, frozen=True, kw_only=True):
    """One account, as the chain has it."""

    account: str
    accepted: int
    """Payments whose callers got the answer that they are durable."""
    once: int
    """Of them, mined exactly once."""
    twice: int
    """Mined more than once."""
    lost: int
    """Not mined."""
    wrong: int
    """Payments whose caller got another answer than a confirmation."""
    no_ops: int
    """Transactions of no value that fill a nonce nobody wanted."""
    nonces: int
    """Nonces that the account has used."""
    dense: bool
    """They are 0, 1, 2 … without a gap."""
    in_order: bool
    """The k-th payment on chain is the k-th that was sent, and there is no other."""

    def is_right(self) -> bool:
        return self.dense and self.in_order and self.twice == self.lost == self.wrong == 0


class Naive(Struct, frozen=True):
    """Payments by a sender that reads the count and tries again when an answer is lost."""

    sent: int
    answers_lost: int
    mined: int
    twice: int


class Direct(Struct, frozen=True):
    """Concurrent executions of one contract without a queue."""

    sent: int
    succeeded: int
    conflicts: int


class Kill(Struct, frozen=True):
    """One SIGKILL, and what was under way."""

    number: int
    at_s: float
    pid: int
    landed: int
    running: int
    """Consensus rounds that ran when the worker died."""
    unanswered: int
    """Submissions whose callers had no answer yet; they are sent again with the same keys."""
    unmined: int = 0
    """Payments that were sent and not mined: on their way, at whatever step."""


class DemoVerdict(Struct, frozen=True):
    rows: list[ContractRow]
    direct: Direct | None
    kills: list[Kill]
    resent: int
    """Submissions sent again after a kill."""
    replayed: int
    """How many of them the killed worker had already made durable."""
    tries_refused: int
    """Second tries on the same parent that the chain refused: what keeps the promise."""
    seconds: float
    folder: str
    problem: str = ""
    payments: list[PaymentRow] = []
    node: str = ""
    """What the accounts paid on."""
    naive: Naive | None = None
    answers_lost: int = 0
    """Answers of the node to laneway's sends that were cut off on the way."""

    @property
    def sent(self) -> int:
        return sum(row.sent for row in self.rows)

    @property
    def on_chain(self) -> int:
        return sum(row.on_chain for row in self.rows)

    def is_right(self) -> bool:
        executed = all(row.is_right() for row in self.rows)
        return not self.problem and executed and all(row.is_right() for row in self.payments)


class DemoView(Protocol):
    """The output of the demo: a terminal or a log."""

    def began(self, plan: DemoPlan, contracts: list[str], accounts: list[str]) -> None: ...
    def node(self, name: str) -> None: ...
    def direct(self, direct: Direct) -> None: ...
    def naive(self, naive: Naive) -> None: ...
    def moved(self, snapshot: DemoSnapshot) -> None: ...
    def killed(self, kill: Kill) -> None: ...
    def ended(self, verdict: DemoVerdict) -> None: ...
    def stays(self, surroundings: Surroundings) -> None: ...
    def close(self) -> None: ...
