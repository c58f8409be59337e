"""How a node's pool behaves: anvil's ways and geth's, and whatever a test makes of them."""

from collections.abc import Mapping

from msgspec import Struct

from laneway.devnets.evm import words
from laneway.devnets.evm.limits import BUMP_PERCENT_GETH, POOL_COUNT_GETH, SIZE_BYTES_GETH
from laneway.devnets.evm.words import Reason


class Rules(Struct, frozen=True):
    words: Mapping[Reason, tuple[int, str]]
    bump_percent: int
    """By how much fee and tip must rise to replace; 0: the fee alone, by anything."""
    refuses_below_base: bool
    """A fee below the base fee is refused when it is sent."""
    evicts_below_base: bool
    """And forgotten when a block with such a base fee comes."""
    sums_costs: bool
    """The balance must cover all that the sender has in the pool."""
    returns_reorged: bool
    """What a reorg takes out of the chain goes back into the pool."""
    size_bytes_max: int | None = None
    pool_count_max: int | None = None


ANVIL = Rules(
    words=words.ANVIL,
    bump_percent=0,
    refuses_below_base=True,
    evicts_below_base=True,
    sums_costs=False,
    returns_reorged=False,
)

GETH = Rules(
    words=words.GETH,
    bump_percent=BUMP_PERCENT_GETH,
    refuses_below_base=False,
    evicts_below_base=False,
    sums_costs=True,
    returns_reorged=True,
    size_bytes_max=SIZE_BYTES_GETH,
    pool_count_max=POOL_COUNT_GETH,
)
