"""Bounds of an account's lane, each with its reason."""

RESETS_KEPT = 5
"""Manual resets that the health remembers, as seed 002 has it."""

SLOTS_OPEN_MAX = 8_192
"""Numbers with rows: twice the largest window, for those that are mined and not yet final."""

PROOFS_MAX = 512
"""Numbers whose user is asked for at once: their receipts are a few batches for every node, so
that a full window is proven in seconds after an outage of any length."""

PROVE_GROWTH_MAX = 5
"""Doublings of the pause between two questions who used a number: after 32 polls what was not
shown is not shown in the next second either, and a node is not asked for it all the time."""

PROOFS_TO_HALT = 3
"""Questions to no avail after which a lane halts: around a new block, and while nodes catch up, one
may count what it does not show yet."""

REMINDED_MAX = 512
"""Attempts offered again when the lowest number stands still: a few batches, once in a
`bump_after_ms`. Those above are reminded once these have landed."""

RAW_INLINE_MAX = 256
"""Signed bytes that stand in the attempt's own row: a transfer's 110, or a call with a few words.
More of them would be written again with every answer, and that row would grow beyond 1 KB."""

RESEND_GROWTH_MAX = 3
"""Doublings of the pause between resends: at eight times ten seconds a node that came back waits
little, and a pool that stays full is not flooded."""

REFUSALS_MAX = 5
"""Times that every node refuses all bytes of an intent for good, with pauses that double, before
the intent itself is refused: half a minute outlasts a gateway's odd answer, and what a chain does
not know it does not learn by being asked."""

NOOP_GROWTH_MAX = 8
"""Doublings of the pause before a free number is filled again whose no-op every node refused: after
four minutes a person should look, and a signature a few minutes costs nothing."""

GAP_NUMBERS_MAX = 64
"""Numbers in a row that no-ops fill without being asked to. A reorg takes back a few transactions
of somebody else; a wider hole means that the count which put ours above it was false."""

ATTEMPTS_MAX = 32
"""Signed forms of one number: the last offers 1.125^31, 38 times the first. Who is not mined then
waits for something else than a higher fee, and every form is a row, and a hash that is looked
for."""

PAGES_AHEAD = 680
"""Some 8,000 intents held ahead, twice the widest window: what comes in a rush need not be read
from the store. They are small (see HANDED_BYTES_MAX): 12 MB an account, of which there are few."""

CLAIMS_MAX = 256
"""Numbers given out in one decision: as many signatures take about 10 ms."""
