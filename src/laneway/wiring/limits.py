"""Bounds of the wiring, each with its reason."""

LANE_PAGE = 500
"""Lanes read at once for a listing."""

RETRY_AFTER_S = 30
"""What a full lane tells its callers: an execution is minutes, so sooner is not worth asking."""
