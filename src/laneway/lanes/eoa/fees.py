"""Fee arithmetic: what a first attempt offers, what replaces one, and what is too dear.

geth asks +10 % on both fields to replace an attempt (blobs +100 %); 1.125 of the last one, rounded
up, satisfies every client. A bump also never offers less than 1.2 of what the market asks now
(seed 002), so that it does not lag behind a rising fee.

A node may name any fee. Where nobody set a ceiling, what it names is believed up to the lower of
two bounds: an absolute one by chain id, and a multiple of the base fee that the blocks show.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from laneway.lanes.common.values import LaneRow


class EvmFee(LaneRow, frozen=True, gc=False):
    """Both fields in wei for each unit of gas; a legacy price stands in both."""

    cap: int
    tip: int
    blob: int = 0
    """For each unit of blob gas; 0 where there are none."""


NO_FEE = EvmFee(0, 0)

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


def fresh(base_fee: int, tip: int) -> EvmFee:
    """A first offer: enough for six full blocks of rising base fee (1.125^6 ≈ 2)."""
    return EvmFee(2 * base_fee + tip, tip)


def replacing(last: EvmFee) -> EvmFee:
    """The least that any node takes in its place; with blobs it must offer twice as much of
    everything."""
    if last.blob:
        return EvmFee(2 * last.cap, max(1, 2 * last.tip), 2 * last.blob)
    return EvmFee(rising(last.cap), rising(last.tip))


def rising(wei: int) -> int:
    """1.125-fold, rounded up, and at least 1 wei more."""
    return max(wei + 1, -(-wei * 9 // 8))


def bumped(last: EvmFee, market: EvmFee) -> EvmFee:
    """max(market × 1.2, last × 1.125) on both fields; the tip never above the cap."""
    least = replacing(last)
    cap = max(least.cap, -(-market.cap * 6 // 5))
    tip = max(least.tip, -(-market.tip * 6 // 5))
    return EvmFee(max(cap, tip), tip, max(least.blob, -(-market.blob * 6 // 5)))


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


ETHER_ROLLUP = 50 * GWEI
"""Rollups that are paid in ether ask 0.001 to 0.1 gwei; their worst hours reached some 10 gwei."""

TABLE: Final[Mapping[int, int]] = MappingProxyType(
    {
        1: 500 * GWEI,  # Ethereum: 1 to 50 gwei; above 500 only for hours of 2020 to 2022.
        10: ETHER_ROLLUP,  # Optimism.
        25: 50_000 * GWEI,  # Cronos: 400 to 5,000 gwei of a cheap coin.
        56: 100 * GWEI,  # BNB Smart Chain: 0.05 to 5 gwei, once 20 in its busiest days.
        100: 500 * GWEI,  # Gnosis: 1 to 5 gwei of a dollar, with spikes of 100.
        130: ETHER_ROLLUP,  # Unichain.
        137: 5_000 * GWEI,  # Polygon: at least 25 gwei, with spikes of 1,000 to 2,000.
        250: 5_000 * GWEI,  # Fantom: 1 to 100 gwei of a cheap coin, with spikes of 2,000.
        295: 10_000 * GWEI,  # Hedera: 700 to 2,000 gwei, fixed in dollars.
        324: ETHER_ROLLUP,  # ZKsync Era.
        8_453: ETHER_ROLLUP,  # Base.
        42_161: ETHER_ROLLUP,  # Arbitrum One.
        42_170: ETHER_ROLLUP,  # Arbitrum Nova.
        42_220: 1_000 * GWEI,  # Celo: at least 25 gwei of a cheap coin.
        43_114: 1_000 * GWEI,  # Avalanche: 1 to 50 gwei, with spikes of 500.
        59_144: ETHER_ROLLUP,  # Linea.
        534_352: ETHER_ROLLUP,  # Scroll.
    }
)
"""Wei per unit of gas: about ten times the dearest hour that a payment would want to be part of.
At the ceiling of Ethereum a transfer costs 0.0105 ether."""

UNKNOWN_CHAIN_WEI = 1_000 * GWEI
"""Of a chain that the table does not have, devnets included: these ask 1 to 10 gwei, and other
coins are cheaper than ether. A transfer costs at most 0.021 of the coin."""

BASE_FEE_TIMES = 10
"""How often the base fee an attempt may cost: a tip of nine base fees outbids any honest block."""

QUIET_PART = 20
"""A base fee next to nothing says little about an honest tip: the multiple is never below this part
of the absolute ceiling, which is 25 gwei on Ethereum and 50 gwei on a chain nobody knows."""


def table_ceiling(chain_id: int) -> tuple[int, str]:
    """The absolute ceiling of a chain in wei per unit of gas, and where it comes from."""
    found = TABLE.get(chain_id)
    if found is None:
        return UNKNOWN_CHAIN_WEI, "default for unknown chains"
    return found, f"chain table ({chain_id})"


def by_base_fee(ceiling_wei: int, base_fee_wei: int) -> int:
    """The lower of the absolute ceiling and the multiple of the base fee. A chain without a base
    fee has the absolute one alone."""
    if base_fee_wei == 0:
        return ceiling_wei
    return min(ceiling_wei, max(BASE_FEE_TIMES * base_fee_wei, ceiling_wei // QUIET_PART))
