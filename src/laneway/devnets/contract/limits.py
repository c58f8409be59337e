"""Bounds of the contract devnet, each with its reason."""

from laneway.core.limits import PAYLOAD_BYTES_MAX

ROUND_MS = 600_000
"""A quorum round takes about ten minutes (seed 004 §1)."""

ROUND_MS_DEV = 1_000
"""A round of the devnet as a process: real ones take ten minutes, and somebody waits here."""

PORT_DEFAULT = 20_000
"""Where the real node listens."""

SLOW_FACTOR = 5
"""A slow round takes fifty minutes: it lands after a client's deadline of thrice a round."""

PENDING_COUNT_MAX = 1_024
"""Requests that wait for their password. A client signs off within milliseconds; the rest leaks."""

BODY_BYTES_MAX = 6 * PAYLOAD_BYTES_MAX + 65_536
"""The largest payload with every byte escaped as \\u00XX, and the other fields."""

HISTORY_COUNT_MAX = 10_000
"""Blocks in one answer, the newest: some 3 MB. The real node answers pages of 100, the oldest."""
