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
