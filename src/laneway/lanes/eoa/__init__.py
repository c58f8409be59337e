"""EVM accounts: nonces in order, many in flight, none paid twice (seed 002)."""

from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings

__all__ = ["EoaSettings", "eoa_kind"]
