"""The delivery machine: messages to one endpoint, in any order, each until it is taken or dead."""

from laneway.lanes.delivery.machine import delivery_kind

__all__ = ["delivery_kind"]
