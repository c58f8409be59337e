"""Bundle lanes: one rollup service each, its blocks as work packages in flight, each block once."""

from laneway.lanes.bundle.machine import bundle_kind
from laneway.lanes.bundle.settings import BundleSettings

__all__ = ["BundleSettings", "bundle_kind"]
