"""Bounds of the wiring, each with its reason."""

LANE_PAGE = 500
"""Lanes read at once for a listing."""

RETRY_AFTER_S = 30
"""What a full lane tells its callers: an execution is minutes, so sooner is not worth asking."""

HANDLES_SWEEP_MIN = 1_024
"""Handles told of at once before the forgotten ones among them are swept out."""

GC_ALLOCATIONS = 50_000
"""New objects between two looks of the collector, 70 times Python's own: see calm_collector."""

ACCOUNTS_SHOWN_MAX = 4
"""Accounts of a chain that the banner of `up` names; the rest is counted."""

START_MS_MAX = 120_000
"""How long a start waits for a shared store: a database of the same machine is up a minute after
its boot, and a failover takes about as long. Then the process ends, and its supervisor decides."""
START_RETRY_MS_MIN = 500
START_RETRY_MS_MAX = 5_000
"""Between two tries to reach it, doubled each time."""

CONFIG_BYTES_MAX = 1 << 20
"""A configuration larger than this is another file given by mistake."""

HEARTBEATS_A_LEASE_MIN = 4
"""An owner stops at four fifths of its lease: two heartbeats may be lost and one be slow."""

DURATION_MS_MAX = 366 * 86_400_000
"""A year; a longer wait in a configuration is a typo."""

COUNT_MAX = 1 << 40
"""Larger counts and sizes in a configuration are typos, and this one still fits every row."""

CORES_MAX = 341
"""Of a full JAM chain (C); a higher core in a configuration is a typo."""

SLOT_MS_MIN = 20
"""Of a development chain: with quicker slots its windows, a sixth of one, are over before a busy
process gets its turn."""

REPLICAS_MAX = 100
"""More replicas of one server in a configuration are a typo."""

RETENTION_DAYS_MAX = 36_500
"""A hundred years, which is also what "for ever" means."""

LINE_BYTES_MAX = 8 << 20
"""One request line of a worker: the largest payload with every byte escaped, and its fields."""

SUBMISSIONS_INFLIGHT_MAX = 1_024
"""Lines a worker has read but not answered; two full batches of the door."""

WORKER_READY_S_MAX = 20.0
WORKER_STOP_S_MAX = 5.0
"""A worker starts in half a second and stops in a tenth of it; the rest is a busy machine."""

DEMO_S_MAX = 80.0
"""The demo's work ends within 90 s whatever happens; the rest is for telling what did."""

LOG_TAIL_BYTES = 4_096
"""How much of a dead worker's log is read for its last words."""

LOOP_STOP_S_MAX = 5.0
"""How long a closing LanewaySync waits for its thread, which then has nothing left to do."""

NUMBER_MAX = (1 << 53) - 1
"""The largest number that JSON, SQLite and every language in between agree on."""

LISTING_SCAN_PAGE = 200
LISTING_SCAN_MAX = 5_000
"""Rows one request for a page looks at; a filter that fits few of them gives a short page."""

NOTE_AGAIN_S = 1.0
"""Between two tries to tell a fleet that a bug stopped a lane, while its store is busy."""

STOPS_ASKED_MAX = 100
"""Stopped lanes that one look asks whether they still stand; the next look asks the others. A bug
that stops thousands must not make every process read thousands of lanes at every heartbeat."""

WITNESS_PAGES_MAX = 25
"""Pages of lanes that are looked through, at a start, for one that has seen a block: as many rows
as a request for a page looks at. Lanes without any have never executed."""

LISTING_LARGE_PAGE = 16
"""The same of rows whose payloads may have 8 MiB each."""

FOLLOW_S_MAX = 2.0
"""How long an operator's request waits for its lane to follow; the word itself is durable."""

PROBE_EVERY_MS = 5_000
PROBE_S_MAX = 3.0
"""How often and how long readiness asks the chain: orchestrators ask every few seconds."""

READINESS_S_MAX = 4 * PROBE_S_MAX
"""How long a server's own readiness is waited for: it asks its nodes and then its rollups."""
READINESS_BYTES_MAX = 1 << 20
"""What is read of a server's own readiness: some thousands of checks."""

NODES_EVERY_MS = 30_000
"""How often `laneway up` asks a node that no lane asks: one call each."""

FILES_SPARE = 256
"""File descriptors beside the connections: the database, the chain, the log."""

SECRETS_MAX = 4
"""Secrets of one webhook in force at once: the old one and the new one, and room for a mistake."""

DEAD_COUNTED_MAX = 1_000
"""Dead letters that a scrape counts: the question is whether there are any, and do they grow."""

ANVIL_START_S_MAX = 20.0
ANVIL_STOP_S_MAX = 5.0
"""An anvil starts and ends within a tenth of a second; the rest is a busy machine."""

DEMO_CALL_MS_MAX = 10_000
"""One question of the demo to a node on loopback, which answers within milliseconds."""

NAIVE_TRIES_MAX = 10
"""How often the demo's naive sender tries one payment; it needs two at most."""

TX_OVERHEAD_BYTES = 2_048
"""What an intent of a Cosmos account holds beside its payload and its signed form: its rows, its
signature and its place in the lane."""

ROOM_WAIT_S = 10.0
"""How long a request waits for bytes of Cosmos accounts: less than a client waits for an answer,
and long enough for a few blocks. The library, which holds no connection, waits as configured."""
ROOM_PART = 8
"""A batch asks for an eighth of the process' bytes at a time: for all of them it would have to wait
until nothing else is open."""
ROOM_INSIDE_BYTES_MAX = 64 << 20
ROOM_CROWDED_S = 1.0
"""Payloads of requests that wait so, and how long whoever comes on top of them does: their bytes
are in memory, and under no other bound."""

SHOWN_VALUE_BYTES_MAX = 4_096
"""Of a message that is shown with its transaction; a page may have 500 of them."""

TRANSFER_TRIES_MAX = 1_024
"""How often a rollup's transaction may be handed in after it was refused, cancelled or expired. Its
signer can make no other bytes, so who asks once a second while a nonce before it is missing has a
quarter of an hour; the newest try is found in twenty questions."""

ANSWERS_ASKED_MAX = 256
"""Intents of a batch whose answers are asked for at once: a few hundred, as stores have it."""

CHAIN_OPEN_S_MAX = 15.0
CHAIN_OPEN_RETRY_S = 0.5
"""How long a start waits for a rollup's chain, whose sizes its lane cannot do without: two slots
and some. Whoever starts this process starts it again."""

CLOCK_OFF_MS_MAX = 1_000
CLOCK_SLOTS = 2
"""How far this machine's clock may be from a chain's calendar before the doctor says so, and for
how many slots it listens to find that out."""

PICTURE_FINAL_MAX = 8
"""Final blocks that a rollup's picture shows: as many as may wait; the list has them all."""

ANSWERS_PAGE = 256
"""Transactions of a final block whose answers are read at once."""

CATCH_UP_S_MAX = 3.0
"""How long a question waits while a rollup's builder reads final blocks that it has not; then it is
answered that they are missing."""

SPENDERS_MAX = 4_096
"""Accounts of rollups whose last nonce is remembered by the process that took it; whoever is
forgotten is told the nonce behind the newest block."""

PORT_MAX = 65_535
"""TCP's own: a port is a number of 16 bits."""

SPELLING_LIKENESS_MIN = 0.85
"""Of a name that was mistyped and the one that was meant: a letter or two in a dozen."""

REVIVED_POLL_S = 0.02
"""How often a revived lane is looked at while its operator waits for the answer."""

STOPPED_NAMED_MAX = 8
"""Stopped lanes that /readyz names; the rest are counted there, and listed by `lanes`."""

PRICE_FACTOR_MAX = 100
"""Times a Cosmos chain's least gas price that its nodes may ask for: a crowded chain asks for ten,
and a node that lies for any number. By default 0.4 utia, 0.04 TIA for a small transaction."""
