"""Bounds of what every kind of lane shows and takes, each with its reason."""

RETRY_AFTER_S = 30
"""When callers of a full lane may ask again: an execution takes minutes, so not sooner."""

HANDLES_SWEEP_MIN = 1_024
"""Handles held at once before the forgotten ones among them are swept out."""

DURATION_MS_MAX = 366 * 86_400_000
"""A year; a longer wait in a configuration is a typo."""

COUNT_MAX = 1 << 40
"""Larger counts and sizes in a configuration are typos, and this one still fits every row."""

AUTHORIZER_CHARS_MAX = 65_536
"""Hexadecimal digits of an authorizer's parameters: 32 KB, far more than any token has, and little
of the 13.8 MB that a package may have (W_B)."""

CORES_MAX = 341
"""Of a full JAM chain (C); a higher core in a configuration is a typo."""

SLOT_MS_MIN = 20
"""Of a development chain: with quicker slots its windows, a sixth of one, are over before a busy
process gets its turn."""

NUMBER_MAX = (1 << 53) - 1
"""The largest number that JSON, SQLite and every language in between agree on."""

LISTING_SCAN_PAGE = 200
LISTING_SCAN_MAX = 5_000
"""Rows one request for a page looks at; a filter that fits few of them gives a short page."""

NOTE_AGAIN_S = 1.0
"""Between two tries to notify a fleet that a bug stopped a lane, while its store is busy."""

PROBE_EVERY_MS = 5_000
PROBE_S_MAX = 3.0
"""How often and how long readiness asks the chain: orchestrators ask every few seconds."""

LOOK_S_MAX = 10.0
"""How long the doctor asks for a rollup's service: some questions, one after the other, of which
the first may wait for a node that says nothing."""

LOOK_TRIES = 3
LOOK_PAUSE_S_MAX = 2.0
"""How often the doctor asks again, after a slot each time, what came to nothing on several nodes:
the first of them may be the one that lies, and who is outvoted is known when the others have
answered. A lane looks again in its next slot, too."""

SECRETS_MAX = 4
"""Secrets of one webhook in force at once: the old one and the new one, and two for mistakes."""

TX_OVERHEAD_BYTES = 2_048
"""What an intent of a Cosmos account holds beside its payload and its signed form: its rows, its
signature and its place in the lane."""

CAPACITY_WAIT_S = 10.0
"""How long a request waits for bytes of Cosmos accounts: less than a client waits for an answer,
and long enough for a few blocks. The library, which holds no connection, waits as configured."""
CAPACITY_PART = 8
"""A batch asks for an eighth of the process' bytes at a time: for all of them it would have to wait
until nothing else is open."""
CAPACITY_INSIDE_BYTES_MAX = 64 << 20
CAPACITY_CROWDED_S = 1.0
"""Payloads of requests that wait so, and how long one that comes on top of them does: their bytes
are in memory, and under no other bound."""

SHOWN_VALUE_BYTES_MAX = 4_096
"""Bytes of a message in the view of its transaction; a page may have 500 of them."""

TRANSFER_TRIES_MAX = 1_024
"""How often a rollup's transaction may be handed in after it was refused, cancelled or expired. Its
signer can make no other bytes, so who asks once a second while a nonce before it is missing has a
quarter of an hour; the newest try is found in twenty questions."""

ANSWERS_ASKED_MAX = 256
"""Intents of a batch whose answers are asked for at once: a few hundred, as stores have it."""

CHAIN_OPEN_S_MAX = 15.0
CHAIN_OPEN_RETRY_S = 0.5
"""How long a start waits for a rollup's chain, whose sizes its lane cannot do without: two slots
and some. Then the server opens its door without that lane, which is opened later."""

CHAIN_LATE_RETRY_S_MAX = 6.0
"""Between two tries to open a rollup whose nodes were all down at the start: a slot. The pauses
begin with `CHAIN_OPEN_RETRY_S` and double."""

CLOCK_SLOTS = 2
"""For how many slots the doctor listens to find out how far this machine's clock is from a chain's
calendar."""

PICTURE_FINAL_MAX = 8
"""Final blocks that a rollup's picture shows: as many as may wait; the list has them all."""

ANSWERS_PAGE = 256
"""Transactions of a final block whose answers are read at once."""

CATCH_UP_S_MAX = 3.0
"""How long a question waits while a rollup's builder reads final blocks that it has not; then it is
answered that they are missing."""

CHAIN_STILL_SLOTS_MAX = 10
CHAIN_STILL_S_MIN = 10.0
"""How long a rollup's chain may show no newer block before that is called a problem: ten slots in a
row that all validators skip, or a node that was restarted and reads in."""

BUILDER_LAG_SLOTS_MAX = 4
BUILDER_LAG_S_MIN = 3.0
"""How long a rollup's builder may lack what is final on its chain before that is called a problem:
four slots, in each of which it tried to read it, and in which a node that restarted is back. Three
seconds at least: on chains with quick slots reading some blocks takes longer than these."""

SPENDERS_MAX = 4_096
"""Accounts of rollups whose last nonce is remembered by the process that took it; one that is
forgotten gets the nonce after the newest block."""

PRICE_FACTOR_MAX = 100
"""Times a Cosmos chain's least gas price that its nodes may ask for: a crowded chain asks for ten,
and a node that lies for any number. By default 0.4 utia, 0.04 TIA for a small transaction."""

STOPPED_NAMED_MAX = 8
"""Stopped lanes that /readyz names; the rest are counted there, and listed by `lanes`."""

LANE_PAGE = 500
"""Lanes read at once for a listing."""

WITNESS_PAGES_MAX = 25
"""Pages of lanes that are looked through, at a start, for one that has seen a block: as many rows
as a request for a page looks at. Lanes without any have never executed."""

FOLLOW_S_MAX = 2.0
"""How long an operator's request waits for its lane to follow; the command itself is durable."""

REVIVED_POLL_S = 0.02
"""How often a revived lane is looked at while its operator waits for the answer."""

ACCOUNTS_SHOWN_MAX = 4
"""Accounts of a chain that the banner of `up` names; the rest is counted."""

ABIS_READ_MAX = 256
"""ABIs of shown requests that stay read, of 4 KB each as text: an account calls a few contracts."""

EXPLANATION_S_MAX = 1.5
"""How long nodes are asked what a mined transaction did, while a person waits: less than the two
seconds after which an abandoned question counts against its node (chains' SILENT_MS_MIN)."""

EXPLANATIONS_AT_ONCE = 4
"""Such questions under way: a trace costs a node more than anything a lane asks."""

EXPLANATIONS_KEPT_MAX = 256
"""Answers that are remembered, of 80 KB at most: people look at one again and again."""

UNEXPLAINED_KEPT_S = 10.0
"""How long it is remembered that no node knew one."""

ARGUMENT_CHARS_MAX = 200
"""Of one value of a call, an event or an error as a command prints it; `--json` has all of it."""
