"""Bounds of the JAM devnet, each with its reason."""

BLOCKS_KEPT_MAX = 64
"""Blocks below the final one that are remembered with their states: five epochs of the tiny chain,
and on a full one, whose states hold megabytes, not more memory than a test may take."""

HELD_PER_CORE_MAX = 64
"""Packages that guarantors hold for one core: at one report in a block, more than eight of them are
dead before their turn comes, and the rest is for resubmissions."""

PACKAGES_KEPT_MAX = 1_024
"""Packages whose bundles and segments validators keep: three blocks of a full chain, and more than
a bundle queue has under way; the oldest are forgotten first."""

DISPERSALS_KEPT_MAX = 4
"""Packages whose shards are there at once. Shards are made again from what is kept, because those
of a thousand validators take many times as much memory."""

FRAGMENTS_KEPT_MAX = 128
"""Changes of the voters' set that are remembered: five days of a full chain's epochs."""

VERSIONS_KEPT_MAX = 1_024
"""Payloads of which guarantors remember the packages, to find two versions of one; as many as the
packages that are kept."""

PREIMAGES_WAITING_MAX = 256
"""Preimages that were handed in and stand in no block yet."""

HISTORY_ENTRIES_KEPT_MAX = 1_024
"""Blocks' entries of the accumulation history whose bytes are kept, 11 KB each on a full chain:
the 600 that its state holds, and those of some forks."""

PORT_DEFAULT = 19_800
"""JIP-2's own."""

SLOT_MS_DEFAULT = 6_000
"""P, the slot of every chain so far."""

SLOT_MS_MAX = 3_600_000
"""A chain that is slower than that is one that goes on by command."""

NODES_COUNT_MAX = 16
"""Nodes of one devnet, each with a socket and a view of its own; builders speak to a few."""

MESSAGE_BYTES_MAX = 20 << 20
"""A bundle of 13,791,360 bytes (W_B) in base64, and some."""

NAME_CHARS_MAX = 100
"""The length of an unknown method's name in its refusal."""

SUBSCRIPTIONS_COUNT_MAX = 1_024
"""Per connection; PolkaJam has such a bound, and builders that leaked theirs died of it."""

OUTGOING_COUNT_MAX = 8_192
OUTGOING_BYTES_MAX = 64 << 20
"""Messages that wait for one reader, and their bytes: some blocks' news for every subscription it
may have, or three of the largest answers. A slower reader is cut off."""

EXTRINSICS_COUNT_MAX = 128
"""T: of one package; more would be refused by every guarantor."""

SEGMENTS_COUNT_MAX = 3_072
"""W_X: segments of one package, and so of one call; 17 MB in base64."""

PROOFS_COUNT_MAX = 256
"""Keys of one call for proofs, each with some twenty nodes."""

FAULT_VALUES_COUNT_MAX = 4_096
"""Validators, cores, slots or packages that one switch names: four times all validators."""

FAULT_SLOTS_MAX = 1 << 16
"""Slots or blocks that a switch is about at a time; two chains' worth of everything that ages."""

CALLS_KEPT_MAX = 500_000
"""Slots and calls of a chain that outlives its process, all of which a start plays again at half a
millisecond each: a month of slots of six seconds, and four minutes of waiting."""

ROLLUP_SERVICE_DEV = 1
"""The number of the rollup's service; zero is the bootstrap service's on real dev networks."""

TEAMS_KEPT_MAX = 8
"""Blocks and slots for which the guarantors of all cores are remembered: every submission asks, and
between two blocks they all ask for the same."""
