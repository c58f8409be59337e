"""Bounds of the machines, each with its reason."""

ATTEMPTS_OPEN_MAX = 8
"""Attempts of one slot that may still land. Each is a row and a question to the chain; a host
that loses eight answers in a row needs a person, not a ninth try."""
