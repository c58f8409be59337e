"""The fee ceiling of a chain for which nobody set one: a table by chain id, and a rule by base fee.

A node may name any fee. What it names is believed up to the lower of two bounds: an absolute one
in wei per unit of gas, and a multiple of the base fee that the chain's blocks show.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from laneway.lanes.eoa.fees import GWEI

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
