"""What an operator may set for contract lanes; every default has its reason."""

from typing import Literal

from msgspec import Struct

from laneway.core.errors import BadRequest


class ContractSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Defaults are the seed's where it names one (§5: a fast queue of 5)."""

    fast_size: int = 5
    """The first jobs of the backlog that count as the fast queue (seed 004 §5)."""
    execution_ms_max: int = 1_800_000
    """A round takes about ten minutes; at thrice that an answer is no longer expected."""
    search_ms: int = 5_000
    """How often the chain is asked for a block whose execution is in doubt."""
    retry_ms_min: int = 1_000
    retry_ms_max: int = 60_000
    """A host that is down is asked again after 1, 2, 4 … 60 seconds."""
    stale_retries_max: int = 50
    """How often other writers may take one execution's block, before `exhausted`."""
    exhausted: Literal["halt", "skip"] = "halt"
    """What then: halt the lane for a person, or skip the intent as dead and go on."""
    breaker_failures: int = 5
    """Doubtful or failed answers in a row that trip the lane."""
    breaker_open_ms: int = 60_000
    """How long a tripped lane rests before it tries one execution (half-open)."""
    priorities: bool = False
    """Urgent first, first in first out within a class. Off: strictly first in first out."""
    count_max: int | None = None
    bytes_max: int | None = None
    """Optional limits of unsettled intents of one contract."""
    limit_policy: Literal["spill", "reject"] = "spill"
    """At a limit: accept and warn, or answer LaneFull. Never a 429."""
    takes_parent: bool = True
    """From the host: `execute` names its parent block, so a second try cannot land twice."""
    has_chain: bool = True
    """From the host: heights are read from a chain, not counted by the lane."""

    def __post_init__(self) -> None:
        """A zero in any of these would spin, or rest for ever."""
        for name in POSITIVE:
            value = getattr(self, name)
            if value is not None and value < 1:
                raise BadRequest(name, f"it is {value}, and must be at least 1")


POSITIVE = (
    "fast_size",
    "execution_ms_max",
    "search_ms",
    "retry_ms_min",
    "retry_ms_max",
    "stale_retries_max",
    "breaker_failures",
    "breaker_open_ms",
    "count_max",
    "bytes_max",
)
