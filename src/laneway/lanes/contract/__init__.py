"""The contract machine: one execution at a time per contract, strictly in order."""

from laneway.lanes.contract.machine import contract_kind
from laneway.lanes.contract.settings import ContractSettings

__all__ = ["ContractSettings", "contract_kind"]
