"""Bounds of the fault proxy, each with its reason."""

BODY_BYTES_MAX = 32 << 20
"""As much as an adapter takes in one answer."""

UPSTREAM_MS = 60_000
"""For the node's answer; callers have shorter bounds of their own."""

HANG_MS_MAX = 3_600_000
"""A request that hangs is let go after an hour, when nobody waits any more."""

DELAY_MS_MAX = 600_000
"""Longer than any caller waits."""

RULES_COUNT_MAX = 100
"""Every call is held against every rule."""

LAG_BLOCKS_MAX = 10_000
"""Nodes without an archive answer for 128."""
