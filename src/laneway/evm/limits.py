"""Bounds of EVM transactions, each with its reason."""

RLP_BYTES_MAX = 1 << 24
"""A devp2p message holds no more, so no honest node sends more."""

RLP_DEPTH_MAX = 64
"""A transaction nests five deep; beyond this only an attack on the stack is left."""

EXTRA_DATA_BYTES_MAX = 32
"""Yellow Paper, 4.3.4: of a header's."""

TRIE_KEY_BYTES_MAX = 64
"""A trie is walked by recursion, twice for each nibble of a key: 256 frames of Python's 1,000. The
keys of a state have 32 bytes."""

TRANSACTION_BYTES_MAX = 1 << 21
"""Nine blobs with their cell proofs take 1.24 MB, and no fork has a larger form."""

INITCODE_BYTES_MAX = 2 * 24_576
"""EIP-3860: twice the largest code that may be deployed."""

TRANSACTION_GAS_MAX = 1 << 24
"""EIP-7825, since Osaka."""

BLOB_BYTES = 131_072
"""EIP-4844: 4,096 field elements of 32 bytes."""

BLOB_GAS = 131_072
"""EIP-4844: of one blob, paid at a price of its own."""

COMMITMENT_BYTES = 48
"""EIP-4844: a compressed point of BLS12-381; a proof has the same size."""

CELL_PROOFS_PER_BLOB = 128
"""EIP-7594: one for each cell of the extended blob."""

BLOBS_CANCUN_MAX = 6
BLOBS_PRAGUE_MAX = 9
BLOBS_OSAKA_MAX = 6
"""A block's bound in EIP-4844 and EIP-7691, and since EIP-7594 a bound on each transaction."""

STACK_WORDS_MAX = 1_024
CALL_DEPTH_MAX = 1_024
"""The Yellow Paper's bounds, which every client has."""

CODE_BYTES_MAX = 24_576
"""EIP-170: the largest code that is deployed."""

CODE_CACHE_BYTES_MAX = 64 << 20
"""About five hundred of the largest contracts with all that is kept of them."""

CODE_CACHE_OVERHEAD_BYTES = 1_024
"""What the objects around a code take, however short it is."""

NONCE_MAX = (1 << 64) - 1
"""EIP-2681: no account counts further."""

PAIRS_AT_ONCE_MAX = 256
"""Pairs of a pairing whose lines are held together, each 35 KB: 9 MB however long the input is."""

MODEXP_BYTES_MAX = 1_024
"""EIP-7823, since Osaka: of the base, the exponent and the modulus each."""

MODEXP_GAS_MAX = 1 << 30
"""More gas than any block has. It pays for an exponent of 400 MB, before Osaka bounds it."""

BLOOM_ENTRIES_KEPT = 4_096
"""Addresses and topics whose bits in a filter are kept: half a megabyte."""

COMPILED_AFTER_GAS = 50_000
"""Code is compiled when its frames have spent as much on themselves: two transfers of a token."""

EAGERLY = 0
"""All code is compiled at its first use, whatever that costs; for tests."""

TRACE_OPCODE_GAS = 200
TEXT_BYTE_GAS = 6
"""What compiling costs in gas that the code spent before: an opcode is followed in 6 microseconds
and a byte of text is compiled in 0.15, and the interpreter takes some 35 nanoseconds for a unit of
gas. So code is at most about twice as slow as interpreted, however it is written."""

COMPILED_TEXT_BYTES_MAX = 8 << 20
"""Of all codes together; a byte of text takes some ten of memory once it is compiled."""

NEVER_COMPILED = 1 << 62
"""More gas than any code spends."""

DEAD_END_OPCODES_MAX = 64
"""How far code is read to see whether it only reverts: reasons in Solidity take about forty."""

TRACE_OPCODES_MAX = 256
TRACE_WORDS_MAX = 2_048
"""Bounds of one compiled function: longer ones gain nothing, and a way out keeps the stack."""

PATH_OPCODES_MAX = 1_024
PATH_FUNCTIONS_MAX = 16
"""How far functions go on from each other with what is known. Each is a call of Python, which has
1,000 of them, and a transfer of a token takes 300 opcodes in five functions."""

LINKS_SEARCHED_MAX = 100
"""How many conditions and jump destinations a trace looks back to: a few microseconds for each."""

KNOWN_MEMORY_BYTES_MAX = 16_384
"""How much memory a function follows without paying for it at each step."""

READ_CELLS_MAX = 8
"""Words of memory whose bytes are joined where they are read, instead of written and sliced."""

KEPT_WORD_BYTES = 16
"""What a word that a way out keeps counts as, in bytes of text."""

MAPPING_KEYS_KEPT = 4_096
"""Keys of entries of mappings, which are hashes of 64 bytes: a megabyte."""

COMPILED_BYTES_PER_CODE_BYTE = 96
COMPILED_BYTES_MIN = 16_384
"""How much text code is compiled to at most. Contracts of solc take about forty bytes a byte;
deploying a byte costs 200 gas, which pays for the time that compiling its text takes."""

CALL_GAS_MAX = 50_000_000
"""A call that no block has takes at most this much, and as much if it names none; as go-ethereum
has it. At the slowest gas there is it ends within half a minute."""

ACCESS_LIST_ROUNDS_MAX = 16
"""Each round of making an access list adds to it or is the last. Real code takes two or three; code
that asks for its gas can take as many as it likes."""

TRACED_BYTES_MAX = 256 << 20
"""What a trace of one transaction keeps at most; what comes later runs and is not kept. Code can
hand a megabyte to every call for the price of a warm account, so gas is no bound."""

TRACED_STEP_BYTES = 512
"""About what a step or a call takes beside its stack, memory and data."""

BLOCK_TIME_S = 6.0
"""A rollup makes a block in each timeslot, and builds the worst one within it: seven times quicker
than its builder gives up (45 s)."""

BLOCK_SAFETY = 2.0
"""How much slower than the machine that costs were measured on another one may be."""

BLOCK_GAS_DEFAULT = 25_000_000
"""Of a rollup's block: what the worst opcode, precompiled contract or bomb takes for a unit of gas
(docs/evm-costs.md) times this and times the safety is less than a slot. A test computes it from the
measurements."""
