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
"""Every head has one cursor for each class; people name four (urgent to low)."""

REASON_CHARS_MAX = 500
"""Foreign text is cut to this where it enters: more does not fit on a line of a page."""

REASON_BYTES_MAX = 300
"""Of a reason in UTF-8, as a record keeps it. The head of a lane holds two of them and a name, and
a row that changes stays under 1 KB."""

NAME_BYTES_MAX = 100
"""The name or address, in UTF-8, of the person who commanded a lane."""

TOGETHER_COUNT_MAX = 100
TOGETHER_BYTES_MAX = 1 << 20
"""Arrivals of one lane, and bytes of their payloads, that every store places in one step. Of more
at once an early one may be refused and a later one taken: a commit can come between two steps."""

ESTIMATE_FACTOR_MAX = 2
"""The factor by which estimates of gas may differ where too few nodes answer to outvote a liar.
Honest nodes a block apart differ by less, and a lie within it is harmless: the higher counts."""

NESTING_MAX = 512
"""Lists and objects within each other in JSON from elsewhere. Nodes' answers have about eight; a
text with no more brackets than this, as most have, needs no look at its nesting, and half of the
calls that Python lets stand upon each other are left for the callers."""

ANSWER_BRACKETS_MAX = 1 << 20
"""Lists and objects of one answer: a block of 20,000 transactions with access lists has a tenth of
it, and each takes some hundred bytes once it is decoded."""
