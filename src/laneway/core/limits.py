"""Bounds of the nouns themselves, each with its reason."""

LANE_ID_CHARS_MAX = 200
"""Longest known ids are IPFS tokens and bech32 addresses, under 100; the rest is head-room."""

KEY_CHARS_MAX = 255
"""An idempotency key is an index value; common HTTP gateways cut headers of this kind at 255."""

PAYLOAD_BYTES_MAX = 1 << 20
"""One intent's bytes. They are copied through the log once, so a megabyte costs about 3 ms."""

PRIORITY_CLASSES = 4
"""One cursor a class stands in every head; four words (urgent to low) is what people name."""

REASON_CHARS_MAX = 500
"""A reason is shown on a page and stored in a row that changes, which stays under 1 KB."""
