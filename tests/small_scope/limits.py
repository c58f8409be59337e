"""Bounds of the exhaustive search, each with its reason."""

TURNS_MAX = 8
"""Turns of the reactor in a row; a lane that still has work then is spinning."""

STATES_FULL_MAX = 4_000_000
"""States of one scope of a soak: the largest has half of this, and takes 700 MB."""

STATES_MAX = 400_000
"""States of the exhaustive search; the small scope has a tenth of this."""
