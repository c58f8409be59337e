"""Bounds of the demo, each with its reason."""

WORK_S_MAX = 80.0
"""The demo's work ends within 90 s whatever happens; the rest is for showing what did."""

CALL_MS_MAX = 10_000
"""One question to a node on loopback, which answers within milliseconds."""

WORKER_READY_S_MAX = 20.0
"""A worker starts in half a second; the rest is a busy machine."""

LOG_TAIL_BYTES = 4_096
"""How much of a dead worker's log is read for its last message."""

ANVIL_START_S_MAX = 20.0
ANVIL_STOP_S_MAX = 5.0
"""An anvil starts and ends within a tenth of a second; the rest is a busy machine."""

NAIVE_TRIES_MAX = 10
"""How often the naive sender tries one payment; it needs two at most."""
