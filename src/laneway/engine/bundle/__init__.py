"""Carries out what a bundle lane orders: builds, submits, looks and notifies."""

from laneway.engine.bundle.performer import BundlePerformer
from laneway.engine.bundle.rollup import BlockCallback, Rollup, rollup_lane

__all__ = ["BlockCallback", "BundlePerformer", "Rollup", "rollup_lane"]
