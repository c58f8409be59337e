"""An account's keys, by the names that engine-core's operators know (seed 002 §2.1). Pure.

Only a plain store has them: in a Cluster an account's keys and a payment's would live in different
slots, and no script could change them together.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Arrival
from laneway.core.rows import Command
from laneway.evm.keccak import keccak
from laneway.stores.redis.engine_core.values import PENDING, request_json
from laneway.stores.redis.limits import ACCOUNTS_NAMED_MAX
from laneway.stores.redis.rows.keys import PREFIX, Names

QUEUE = "eoa_executor"
"""The queue that the registry names for every payment of an account."""

RESET = "reset-nonce"
"""The command that sets an account's numbers anew."""

ACCOUNT = re.compile(r"evm:([0-9]+):(0x[0-9a-f]{40})")


class AccountKeys(Struct, frozen=True):
    """What everything of one account is called."""

    start: str
    """The namespace of a store that has another prefix than the usual one."""
    chain: int
    address: str
    """As engine-core writes it: with the capitals of EIP-55."""
    lock: str
    pending: str
    borrowed: str
    submitted: str
    recycled: str
    optimistic: str
    counted: str
    health: str
    reset: str
    resets: str
    """Extra: which commands of the mailbox ask for a reset."""
    registry: str
    jobs: str
    """Extra: job id → lane."""

    def job(self) -> str:
        return f"eoa_{self.address}_{self.chain}"

    def data(self, intent: str) -> str:
        return f"{self.start}eoa_executor:tx_data:{intent}"

    def attempts(self, intent: str) -> str:
        return f"{self.start}eoa_executor:tx_attempts:{intent}"

    def hash(self, hash_: str) -> str:
        return f"{self.start}eoa_executor:tx_hash_to_id:{hash_}"

    # What the store asks.

    def of_arrivals(self) -> tuple[str, str, str]:
        return self.pending, self.registry, self.jobs

    def terms(self) -> tuple[str, str]:
        return QUEUE, self.job()

    def of_arrival(self, intent: IntentId) -> str:
        return self.data(intent)

    def shows(self, arrival: Arrival) -> tuple[str, ...]:
        at, request = str(arrival.accepted_ms), request_json(self.chain, self.address, arrival)
        return (at, "user_request", request.decode(), "status", PENDING, "created_at", at)

    def of_command(self, command: Command) -> tuple[str, ...]:
        return (self.reset, self.resets) if command.verb == RESET else ()

    def of_pruned(self, intents: Sequence[IntentId]) -> list[str]:
        keys = [self.registry]
        for intent in intents:
            keys += (self.data(intent), self.attempts(intent))
        return keys


def account_of(names: Names, lane: LaneId) -> AccountKeys | None:
    """The account of a lane that is shown in engine-core's layout; None for all others."""
    if names.tagged or not lane.startswith("evm:"):
        return None
    return _account(names.prefix, lane)


@lru_cache(maxsize=ACCOUNTS_NAMED_MAX)
def _account(prefix: str, lane: LaneId) -> AccountKeys | None:
    found = ACCOUNT.fullmatch(lane)
    if found is None:
        return None
    chain, address = int(found[1]), capitals(found[2])
    start = "" if prefix == PREFIX else prefix
    words = ("lock", "pending_txs", "borrowed_txs", "submitted_txs", "recycled_nonces")
    rest = ("optimistic_nonce", "last_tx_nonce", "health", "pending_manual_reset")
    own = [f"{start}eoa_executor:{word}:{chain}:{address}" for word in (*words, *rest)]
    extra = f"{start}eoa_executor:laneway"
    own += (f"{extra}:resets:{chain}:{address}", f"{start}tx_registry", f"{extra}:jobs")
    return AccountKeys(start, chain, address, *own)


def capitals(address: str) -> str:
    """EIP-55: a letter is a capital where the hash of the address has a high digit."""
    digits = address[2:]
    hashed = keccak(digits.encode()).hex()
    pairs = zip(digits, hashed, strict=False)
    return "0x" + "".join(one.upper() if digit > "7" else one for one, digit in pairs)
