"""Carries out what an account's lane orders: makes, sends, looks and proves."""

from laneway.engine.eoa.account import EvmAccount
from laneway.engine.eoa.performer import EoaPerformer
from laneway.engine.eoa.view import ChainView

__all__ = ["ChainView", "EoaPerformer", "EvmAccount"]
