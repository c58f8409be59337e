"""Bounds of a bundle lane, each with its reason."""

CHAIN_KEPT_MAX = 64
"""Blocks of the best chain that are remembered, 40 bytes each: as many as one look tells of. An
anchor lives for eight of them, and a fork that goes deeper is looked at from its head alone."""

GAP_HEIGHTS = 1_000
"""Heights that are passed over when the known blocks and the newest have none in common: whatever
was anchored before is old."""

SLOTS_OPEN_MAX = 4_096
"""Rollup blocks that are not final: twelve for each core of a full chain, each of which is open for
six slots. With more of them finality stands still, and nothing new is begun."""

WATCHED_MAX = 1_024
"""Packages of one look: as many as the adapter asks for. Of three for each core of a full chain two
are submitted or reported; what has accumulated is looked at last."""

HELD_SLOTS_MAX = 80
"""How long a service holds an early block, by docs/ledger-service.md. While it does, a block that
came to it by an unknown package may land."""

CORES_OFFERED_MAX = 4
"""Cores that one submission may try, one behind the other."""

ANSWERS_KEPT_MAX = 2
"""Answers of the last submission that a version's row keeps; it stays under 1 KB."""

WORDS_BYTES_MAX = 60
"""Of foreign words in a version's row, which holds some of them and stays under 1 KB."""

REASON_KEPT_BYTES_MAX = 150
"""Of the reason why a block waits, in its slot's row."""

WAITS_BYTES_MAX = 100
"""Of the reason that the lane's head holds beside that of its mode; it stays under 1 KB."""

RETRY_GROWTH_MAX = 5
"""Doublings of the pause before a builder is asked again for what it could not build: half a
minute, which is five slots."""

TELLS_BATCH_MAX = 64
"""Callbacks that are made one behind the other before the lane hears that they were."""

PAGES_AHEAD = 2
"""Pages of the backlog held ahead: about as much as one block takes."""
