"""Fee arithmetic: what a first attempt offers, what replaces one, and what is too dear.

geth asks +10 % on both fields to replace an attempt (blobs +100 %); 1.125 of the last one, rounded
up, satisfies every client. A bump also never offers less than 1.2 of what the market asks now
(seed 002), so that it does not lag behind a rising fee.
"""

from msgspec import Struct


class Fee(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Both fields in wei for each unit of gas; a legacy price stands in both."""

    cap: int
    tip: int
    blob: int = 0
    """For each unit of blob gas; 0 where there are none."""


NO_FEE = Fee(0, 0)

GWEI = 10**9


class Ceiling(Struct, frozen=True, gc=False):
    """What an attempt may cost by the operator's settings, or by the defaults where there are
    none. None stands for no bound."""

    wei: int | None
    """For each unit of gas, and for each unit of blob gas."""
    asked_wei: int | None
    """The same where nodes alone name the fee: at most `wei`, and lower where the base fee is."""
    cost_wei: int | None
    """Of all its gas."""
    source: str
    """Where `wei` comes from, and which setting raises it."""


NO_CEILING = Ceiling(None, None, None, "")


def fresh(base_fee: int, tip: int) -> Fee:
    """A first offer: room for six full blocks of rising base fee (1.125^6 ≈ 2)."""
    return Fee(2 * base_fee + tip, tip)


def replacing(last: Fee) -> Fee:
    """The least that any node takes in its place; with blobs it must offer twice as much of
    everything."""
    if last.blob:
        return Fee(2 * last.cap, max(1, 2 * last.tip), 2 * last.blob)
    return Fee(rising(last.cap), rising(last.tip))


def rising(wei: int) -> int:
    """1.125-fold, rounded up, and at least 1 wei more."""
    return max(wei + 1, -(-wei * 9 // 8))


def bumped(last: Fee, market: Fee) -> Fee:
    """max(market × 1.2, last × 1.125) on both fields; the tip never above the cap."""
    least = replacing(last)
    cap = max(least.cap, -(-market.cap * 6 // 5))
    tip = max(least.tip, -(-market.tip * 6 // 5))
    return Fee(max(cap, tip), tip, max(least.blob, -(-market.blob * 6 // 5)))


def is_replaced_by(last: Fee, other: Fee) -> bool:
    least = replacing(last)
    return other.cap >= least.cap and other.tip >= least.tip and other.blob >= least.blob


def clamped(cap: int, bound: int, needed: int) -> int | None:
    """A fee cap within a bound: lowered as far as it still pays what is needed now, which is the
    base fee with its tip and the least that replaces the last attempt. None where that is more."""
    if cap <= bound:
        return cap
    return bound if needed <= bound else None


def written(wei: int) -> str:
    """An amount as people write it: in gwei where it is one or more, without trailing zeros."""
    if wei < GWEI:
        return f"{wei} wei"
    whole, part = divmod(wei, GWEI)
    return f"{whole}.{part:09}".rstrip("0").rstrip(".") + " gwei"
