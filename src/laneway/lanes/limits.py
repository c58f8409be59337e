"""Bounds of the machines, each with its reason."""

ATTEMPTS_OPEN_MAX = 8
"""Attempts of one slot that may still land. Each is a row and a question to the chain; a host
that loses eight answers in a row needs a person, not a ninth try."""

ATTEMPTS_KEPT_MAX = 16
"""Attempts of one slot that are kept as rows. A host that is down for a week is asked ten thousand
times; the oldest tries that can no longer land are forgotten, their number is not."""

DOUBLINGS_MAX = 20
"""A wait is doubled at most this often: a million times the first one is longer than any limit."""

ENTRIES_BATCH = 64
"""Audit entries kept by one commit: each is an act of a person, so more seldom wait at once."""

LADDER_MS = (0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000)
"""What a delivery waits before each of its attempts: 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h,
the schedule that Standard Webhooks proposes. A receiver may be down for a day."""

DELIVERIES_OUT_MAX = 16
"""POSTs to one endpoint under way at once: enough to hide its answers, too few to flood it."""

DELIVERIES_OPEN_MAX = 1_000
"""Deliveries of one endpoint that are under way or wait for a retry: about 1 MB. An endpoint that
failed a thousand is down, and what comes after them waits in the backlog."""

RETRY_AFTER_MS_MAX = 36_000_000
"""How long an endpoint may ask to be left alone: the longest step of the ladder."""

PUT_OFF_MS = 1_000
"""What was not sent because the lease was in doubt is sent when a heartbeat had its time."""

DELIVERY_REASON_BYTES_MAX = 150
"""Of a reason in a delivery lane's head. Beside two of them it holds a cursor of the feed, which
for a Redis Cluster is some 300 characters, and stays under 1 KB."""

PREVIEW_BYTES_MAX = 512
"""Of an endpoint's answer, kept for the person who asks why: a row stays under 1 KB."""
