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

JUSTIFICATION_NODES_MAX = 32
"""Nodes that prove a shard: at most ten levels of 1,023 validators, a hash, and twelve levels of
segment shards with their proof pages."""

PEAK_COUNT_MAX = 64
"""Peaks of a mountain range: with one more than these it would have 2^64 leaves."""

REQUEST_SLOT_COUNT_MAX = 3
"""Slots that a request for a preimage remembers: given, forgotten, given again."""

ERASURE_CHUNK_WORDS = 1 << 18
"""Words of a polynomial's values that are coded at a time, 512 of each shard on a full chain: some
8 MB of memory, whatever the payload. With half of them encoding takes a tenth longer, and with
twice as many decoding does."""
