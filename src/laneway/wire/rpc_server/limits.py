"""Bounds of a JSON-RPC server; each server sets its own, with its reasons."""

from msgspec import Struct


class RpcLimits(Struct, frozen=True, kw_only=True):
    body_bytes: int
    """Of one posted body, and of one message of a WebSocket."""
    brackets_count: int = 10_000
    """Lists and objects of one body: several for each call of the longest batch."""
    batch_count: int = 1_000
    """Calls of one batch, as geth bounds them."""
    connections_count: int = 256
    """WebSockets at once: more than a fleet of clients has, fewer than a process has files."""
    outgoing_count: int = 8_192
    outgoing_bytes: int = 64 << 20
    """Messages that wait for one reader, and their bytes. A client that asks for more is made to
    wait; one that is notified of more is cut off."""
    close_s: float = 1.0
    """For the closing handshake of a WebSocket; a peer that hangs must not hold a shutdown."""
