"""Bounds of the engine, each with its reason."""

BACKLOG_PAGE = 12
"""Intents a lane holds ahead of its window. A dozen hide the read; 10,000 busy lanes hold 40 MB."""

HANDED_BYTES_MAX = 1_024
"""Of a payload that is handed from the door into a lane's page: a call with a few arguments. What
is larger is read from the store when its turn comes, so that a page stays small."""

EVENTS_PER_TURN_MAX = 256
"""Events one lane folds into one commit, so that a loud lane cannot hold up the others."""

IDLE_LANES_MAX = 10_000
"""Idle lanes kept in memory, least recently used out first: about 2 KB each."""

ALARMS_SPARE_MAX = 1_024
"""Entries of lanes given up that the heap of deadlines may hold beside two for each lane."""

EFFECTS_INFLIGHT_MAX = 10_000
"""Calls to hosts under way at once; each is a task of about 3 KB and perhaps a socket."""

ACCEPT_BATCH_MAX = 512
"""Arrivals in one write: past this the commit's own time dominates what a caller waits."""

HEARTBEAT_MS = 2_000
LEASE_TTL_MS = 10_000
"""Dead after five missed heartbeats, by the store's clock."""
LEASE_STOP_MS = 8_000
"""The owner stops this long after its last heartbeat began, two seconds before others may act."""

COMMIT_RETRY_MS_MIN = 50
COMMIT_RETRY_MS_MAX = 5_000
"""A store that is busy or full is tried again after 50 ms, doubling to 5 s: no spinning."""

CLAIM_RETRY_MS = 2_000
"""A lane that someone else owns is asked for again this often: as often as hearts beat."""

MAILBOXES_ASKED_MAX = 256
"""Busy lanes whose mailboxes are read at one heartbeat of a fleet, in turn: a command whose news
was lost is read all the same, and 10,000 busy lanes do not read 10,000 mailboxes at once."""

WAITERS_ASKED_MAX = 256
"""Callers waiting at one lane of another process whose answers one question asks for. The rest
are asked for at its next news or the next heartbeat."""
WAITERS_CHECK_S = 60.0
"""A caller who waits this long asks for its intent itself: retention may have removed it."""

READY_PAGE = 512
"""Lanes fetched at once when a process starts and takes up what waits."""

PRUNE_EVERY_MS = 60_000
PRUNE_BATCH = 500
"""Retention removes this many intents a round, so that a round stays a short commit."""
PRUNE_ROUNDS_MAX = 40
"""Rounds after one heartbeat: 10,000 intents a second, more than a file can take in."""

READ_TIMEOUT_MS = 30_000
"""A question to a host (its height, a search) is asked again after this."""

SENDS_PER_PART = 100
"""Signed transactions that an account gives to one of its streams before the next stream's turn
comes: one batch of what every node takes. Ten times as many in a row cost a tenth of the
throughput (measured on anvil, two streams): blocks came in lumps."""

STOP_MS_MAX = 10_000
"""How long a stop waits for commits and cancelled calls; a host that will not end is left."""

FEES_KEPT_MS = 1_000
"""How long what a chain asks for its gas is taken for true: less than any chain's block but a few,
and a fee that lags by one costs nothing, for an offer covers six."""

FEES_AGAIN_MS = 20
"""The same for bytes that are made again, because they were too cheap perhaps: those of one lane
share one question."""

BLOCKS_ASKED = 8
"""Blocks of one question: what comes on top between two looks, and some."""
BLOCKS_ROUNDS_MAX = 8
"""Questions of one look: 64 blocks. An account that lags further asks for its hashes."""

RECEIPTS_AT_ONCE = 100
"""Hashes that every node is asked for together when they are to be final: one batch of what every
node takes."""

OWNERS_ASKED_MAX = 4
"""Numbers of one account whose user is searched for at once: each search is a dozen calls to every
node, and the lowest of them holds the others back."""

NOOP_GAS_MAX = 1_000_000_000
"""The most gas of a no-op, whatever nodes estimate. Where a transfer pays for its place on
another chain too it needs some hundred thousand (Arbitrum), a few million (Filecoin) or a few
hundred million (Mantle), at a price as much lower; a trillion could not be paid anywhere, and
nothing would be cancelled."""

MADE_KEPT_MAX = 16_384
"""Hashes of bytes made between two looks: twice the numbers that an account can have open. What is
beyond is found by proof."""

BLOCKS_KEPT_MAX = 128
"""Blocks whose hashes are kept for the accounts of a chain: deeper than its reorganisations. At
1,500 transactions each they are some 15 MB."""
ORPHANS_KEPT_MAX = 1_024
"""Blocks that were taken back and are remembered, so that each account learns down to where."""

OFFERS_AT_ONCE = 64
"""Nodes that Cosmos accounts of this process offer something to at once: each holds up to two of
the largest transactions in text, and a connection."""
LOOKS_AT_ONCE = 64
"""Looks of Cosmos accounts under way at once: 500 accounts that poll every second are far from it,
and a node that hangs holds no more."""

BLOB_BYTES_AT_ONCE = 256 << 10
"""Of a payload whose commitment is computed between two other things: some 6 ms. Larger ones are
left to a thread."""

BUILDS_AT_ONCE = 8
"""Blocks and packages that rollups of this process have built at once: each may hold a bundle of
some megabytes, and a builder has no more processors than that."""
BUILD_TIMEOUT_MS = 60_000
"""A builder that has not answered by then is asked again: ten slots, longer than any version whose
building took so long could still be of use."""
SKEW_MS_MAX = 1_000
"""How far this machine's clock may be from a chain's for packages to leave, where no setting says
otherwise: as much as a submission window leaves before the next slot."""
SUBMISSIONS_AT_ONCE = 64
"""Packages under way to nodes at once, each up to 14 MB: one for each core of a busy rollup, in
turns of 64."""
ROLLUP_LOOKS_AT_ONCE = 16
"""Looks of rollups under way at once: each asks a node for up to 64 blocks."""
WATCH_IDLE_MS = 60_000
"""Without a look for this long a rollup's lane has nothing open here, and the heads of its chain
are followed no longer: ten slots, and far longer than between two looks of a lane that waits."""
LOOK_BLOCKS_MIN = 4
"""Blocks of a look after several that took too long: a node that cannot answer for four of them in
time cannot be followed at all."""
GAS_FACTOR_MAX = 50
"""Times an account's `gas_default` that a simulation may ask for: ten million by default, more than
chains take in a transaction that is no upgrade. A Cosmos chain charges for all gas that is asked
for, and a node could ask for any."""
CALLBACK_TIMEOUT_MS = 30_000
"""A callback that has not returned by then is made again: those after it wait."""

FAULT_FRAMES = 3
"""Of a traceback, as evidence keeps it: the innermost say where, and a log has them all."""

FAULT_INTENTS_MAX = 16
"""Intents that are named as those a bug may be about: more of them point at nobody."""

FAULT_DEPTH_MAX = 6
"""How deep an event is searched for them; the deepest of the machines' values nest four."""

CAREFUL_TURNS = 256
"""After a revival a lane takes one step a turn for this many turns: what was under way when it
stopped is over by then, and if it is stopped again one event or intent is named, not a batch."""

CLOCK_BACK_MS_MIN = 2_000
"""How far the clock must have been set back for all lanes to be woken: less is a correction, which
delays nothing by more than itself."""

FAR_MS = CLOCK_BACK_MS_MIN
"""A lane that is stood up and has nothing to do for longer than this is woken once: its times may
come from a clock that was further ahead, and that it was set back while the lane was not in memory
nobody else sees."""
