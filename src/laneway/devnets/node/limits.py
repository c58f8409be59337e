"""Bounds of all devnets' nodes, each with its reason."""

SHUTDOWN_S = 1.0
"""No call takes longer than its computation, so nobody is worth waiting for."""
