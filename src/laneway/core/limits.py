"""Bounds of the nouns themselves, each with its reason."""

LANE_ID_CHARS_MAX = 200
"""Longest known ids are IPFS tokens and bech32 addresses, under 100; the rest is head-room."""

KEY_CHARS_MAX = 255
"""An idempotency key is an index value; common HTTP gateways cut headers of this kind at 255."""

PAYLOAD_BYTES_MAX = 1 << 20
"""One intent's bytes. They are copied through the log once, so a megabyte costs about 3 ms."""

TX_PAYLOAD_BYTES_MAX = 8 << 20
"""Of a Cosmos account's intent: the largest transaction that celestia-app takes holds it."""

PRIORITY_CLASSES = 4
"""One cursor a class stands in every head; four words (urgent to low) is what people name."""

REASON_CHARS_MAX = 500
"""Foreign words are cut here where they enter: more does not fit on a page's line."""

REASON_BYTES_MAX = 300
"""Of a reason in UTF-8, as a record keeps it. The head of a lane holds two of them and a name, and
a row that changes stays under 1 KB."""

NAME_BYTES_MAX = 100
"""Who told a lane something: a person's name or address, in UTF-8."""

TOGETHER_COUNT_MAX = 100
TOGETHER_BYTES_MAX = 1 << 20
"""Arrivals of one lane, and bytes of their payloads, that every store places in one step: whoever
hands in more at once may find an early one refused and a later one taken, for a commit can come
between two steps."""
