"""Bounds of the benchmarks, each with its reason."""

BATCH = 100
"""Jobs of one submission; the raw loop takes as many a commit."""

WARM_PART = 10
"""A tenth as many transfers as are measured come before the clock starts, for everyone: JavaScript
takes hundreds of calls to get quick, and a new process its first second."""

CALLERS = 2
"""Who submit transfers of one account at once: as many as the raw sender has lines."""

OUTSTANDING_PER_CONTRACT = 5
"""Accepted and not yet final, a contract: the seed's fast queue, so a lane never runs dry."""
OUTSTANDING_MIN = 2 * BATCH
"""One batch runs while the next is written, however few contracts there are."""

PRODUCERS_MAX = 200
"""Submissions under way at once: two jobs at the door for each of 10,000 contracts. With fewer,
the contracts would wait for the producers."""

FILL_BATCH = 1_000
"""Submissions while a backlog is filled. That part is not timed."""

PROCRASTINATE_CONCURRENCY = 4
"""Its best on two cores; at 1 it is a third slower, from 10 on its fetches hinder each other."""

ARQ_CONCURRENCY = 300
"""Jobs of arq under way: at its default of 10 it reaches half of that, beyond it gains nothing."""
SAQ_CONCURRENCY = 10
"""SAQ's default, and its best here."""

CONNECTIONS = 256
"""Of the HTTP clients, each with one request under way: as many share a commit."""
HEARD_S_MAX = 30.0
"""For the last events to arrive; a silent audience is a fault and no slow reader."""

PROBE_SYNCS = 200
PROBE_BYTES = 4_096
"""One page of the log and a sync, so often: about 50 ms a round."""

ANSWER_S_MAX = 600.0
"""A contestant that is silent for so long has hung; the slowest step takes about two minutes."""
END_S_MAX = 20.0
"""How long a child may take to end by itself before it is killed."""
POLL_S = 0.25
"""How often the progress bar is drawn while a contestant works."""

SERVER_START_S_MAX = 60.0
"""A new PostgreSQL is up within two seconds, Redis sooner; a slow disk may need longer."""

GC_GENERATION_0 = 50_000
"""Allocations before the young generation is looked at, as a tuned service would have it."""

LANES_PAGE = 1_000
"""Lanes read at once when the executions that a store holds are counted."""

GUARD_S = 1.0
"""How often a driver looks whether its engine still stands."""

SERVER_POLL_S = 0.05
"""How often a server that starts is asked whether it is up."""

NODE_ANSWER_S_MAX = 30.0
"""For one answer of anvil to the benchmark itself, while a contestant keeps it busy."""

BLOCK_POLL_S = 0.02
"""How often the raw sender asks for the next block: a fifth of the time between two."""

PEER_POLL_MS = 50
"""How often a peer asks for receipts, where that can be set: by default they wait for seconds."""

CYCLE_TRANSFERS = 16
"""Of one cycle of an account's machine: what fills the narrowest window."""

SETTLED_S = 0.5
"""A backlog that did not change for so long is taken from no more."""

VIEM_WIDTH = 100
ETHERS_WIDTH = 500
WEB3PY_WIDTH = 100
"""Calls under way at once: each peer's best here. With more viem's receipts take longer, with
fewer ethers waits for itself."""

STALL_LOOK_S = 5.0
STALL_S_MAX = 30.0
"""How often the chain is asked whether a contestant gets on, and when it is called stuck. anvil
may leave the next nonce in its queue for ever when two connections race; nobody recovers from it
who only waits."""

STALLS_MAX = 3
"""Tries of one round on fresh nodes; one in sixty was stuck when it was looked into."""

BLOCK_MS = 250
"""Between two blocks of the Cosmos devnet: a peer that awaits each of its sends makes four a
second, where a real chain's six seconds would let it make ten a minute."""

STATUSES = 20
"""Of one question of the bare sender: what a node takes."""
PAYER_STATUSES = 200
"""Of one of laneway's looks: ten such questions in one post."""

SEQUENCE_POLL_MS = 250
"""Between questions whether a transfer on the Cosmos devnet is in a block, ours and the bare
sender's alike: one a block."""

PAYER_INFLIGHT = 1_000
"""laneway's transfers under way: its most. Nobody else here has a bound."""

TIMEOUT_BLOCKS = 720
"""How long laneway's bytes are valid: as long as its default of 30 blocks on a chain that makes one
every six seconds. On a busy machine a thousand transfers take longer than 30 quick blocks."""

BYTES_BLOCK_MS = 500
"""Between two blocks while blobs come by the gigabyte."""
BYTES_PRODUCERS = 500
"""Callers that submit blobs at once: one for each account, as a service has that posts for all of
them. Each holds a blob of its own while it waits."""
BYTES_WAIT_MS = 600_000
"""How long a blob waits for room: here all of them shall find it."""

NODE_BLOCK_BYTES_MAX = 128 << 20
NODE_MEMPOOL_BYTES_MAX = 1 << 30
NODE_COUNT_MAX = 100_000
"""Of the Cosmos devnet: more than any contestant has out, so that the sender is measured."""

PROGRESS_STEPS = 100
"""How often a long step says how far it is."""

ERASURE_BYTES = 4 << 20
ERASURE_REPEATS_MIN = 4
"""Payloads of one question about the erasure code, all together, though never fewer than this:
the peer needs a second or two for them."""

PAYEES = 16
"""Accounts that receive. Some peers copy all accounts at each call, so few is to their advantage.
"""
STORAGE_LOOPS = 50
HASH_LOOPS = 200
"""Steps of one transaction that loops: most of it is the loop, and it takes milliseconds."""
WARM_TRANSACTIONS = {"laneway": 60, "eels": 5, "pyevm": 20, "ethereumjs": 400}
"""Come before the clock starts: laneway compiles the code that it meets again, and JavaScript
takes hundreds of calls to get quick. Plain Python hardly changes."""
EVM_SEND_BATCH = 500
"""Transactions of one request to anvil; sending them is not timed."""
