"""Carries out what a sequence lane orders: makes, offers, looks and proves."""

from laneway.engine.sequence.account import CosmosAccount, CosmosView
from laneway.engine.sequence.performer import SequencePerformer

__all__ = ["CosmosAccount", "CosmosView", "SequencePerformer"]
