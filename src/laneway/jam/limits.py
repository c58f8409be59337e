"""Bounds of JAM objects, each with its reason."""

SEQUENCE_COUNT_MAX = 1 << 20
"""Items of one sequence where nothing tighter is known; the largest of a full chain, the keys of
an epoch or its history, stay below a quarter of a million."""

BLOB_BYTES_MAX = 16 << 20
"""One byte string; the largest that the chain takes is a bundle of 13,791,360 bytes (W_B)."""

SHUFFLES_KEPT_MAX = 16
"""Shuffles of the cores that are remembered, 16 KB each on a full chain: two epochs ask for one
each, and some forks for their own."""

VOTES_PER_VALIDATOR_MAX = 2
"""Precommits of one voter in a justification: two of them show that it voted against itself."""

ANCESTRY_COUNT_MAX = 4_096
"""Headers between a final block and the votes for those that follow it: as many as slots in seven
hours, and a chain that finalises later than that is asked by hand."""

PACKAGE_BYTES_MAX = 200 * 1024
"""An encoded work package in a message (JAMNP-S, CE 133 and 146)."""

IMPORT_PROOF_HASHES_MAX = 12
"""Hashes that prove one imported segment: a package exports at most 3,072, a tree of twelve
levels."""

PEAK_COUNT_MAX = 64
"""Peaks of a mountain range: with one more than these it would have 2^64 leaves."""

REQUEST_SLOT_COUNT_MAX = 3
"""Slots that a request for a preimage remembers: provided, forgotten, provided again."""

ERASURE_CHUNK_WORDS = 1 << 19
"""Words of a polynomial's values that are coded at a time, 1,024 of each shard on a full chain:
some 6 MB of memory, whatever the payload. With half of them coding takes a twentieth longer."""

PRODUCTS_AT_ONCE_MAX = 1 << 18
"""Words that are multiplied at a time, in 4 MB of memory: what numpy asks for and gives back in
between is then small enough for the process to keep it."""

FACTOR_TABLE_WORDS_MIN = 12_000
FACTOR_TABLE_MAX = 40
"""A table of all products of a factor is used for blocks of at least this many words, and for
factors up to this one. Otherwise the processor's cache is filled with tables faster than they
are used."""

FACTOR_TABLES_KEPT_MAX = 32
"""Such tables that are kept, 128 KB each: factors are even, so twenty of them are asked for."""

PLANES_POINTS_MIN = 128
PLANES_WORDS_MIN = 2_048
"""Points and words of a row from which on planes are quicker than tables: below, they are made for
too few layers, or each XOR is over sooner than numpy has begun it."""

PLANES_WORDS_MAX = 6_144
"""Words of a row that are planes at a time: 20 MB of memory for a full chain's 512 points. With
half of them coding takes a tenth longer."""

PROGRAMS_KEPT_MAX = 256
"""Lists of XORs for products with one factor, a few kilobytes each: a full chain asks for 74."""

WORDS_KEPT_MAX = 1 << 22
"""Words of memory for one use that are kept for the next one who codes, so 8 MB: enough for
payloads of 4 MB, which take 30 MB in all. Larger ones ask the system each time."""
