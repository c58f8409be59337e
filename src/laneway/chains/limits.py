"""Bounds of the adapters, each with its reason."""

CONNECT_MS = 5_000
"""A node on the same network answers in milliseconds; two lost SYN packets cost three seconds."""

READ_MS = 30_000
"""What a node answers at once: heights, history and the question for a password."""

ANSWER_MS = 1_800_000
"""A round takes about ten minutes; at thrice that an answer is no longer expected."""

CONNECTIONS_MAX = 1_024
"""One running round holds one connection; a thousand contracts on one node are beyond any known."""

KEEPALIVE_S = 5
"""Shorter than any server's idle limit we know of, so a call is not written to a dead connection:
that would make an execution unknown which was never sent."""

ANSWER_BYTES_MAX = 64 << 20
"""A history of a hundred blocks, each with the largest payload the node is likely to take."""

THREADS_MAX = 32
"""Plain callables under way at once; each holds one thread for as long as it runs."""

NODE_READ_MS = 10_000
"""A node answers a count in milliseconds; a hosted one, through two gateways, in a second."""

UNKNOWN_MESSAGES_MAX = 256
"""Error messages that no table knows and that are counted each by itself: more than a client has,
and a node that names a hash or a time in each of them fills no memory."""

POLL_MS = 1_000
"""How often a node without a subscription is asked for its newest block; a setting."""

SILENCE_MS = 60_000
"""Five mainnet slots, or ten of JAM, without a head: a subscription that died unseen."""

RESUBSCRIBE_MS = 10_000
"""Between two tries of a subscription; the node is polled meanwhile."""

HEAD_KEPT_MS = 30_000
"""How long a node's answer on its newest block binds the others, once it is silent. Lagging nodes
catch up within a block or two; a node that died must not make the others useless."""

REST_MS_MIN = 250
REST_MS_MAX = 10_000
"""A node that fails is left alone for this time, doubled with each failure, while others work."""

ALONE_HEDGES = 3
"""How many times as long as a silent node one is asked alone that answers many steps, each in time:
less than a slot, so that one slow node of several costs no block more than that."""

LATE_MS = 10_000
"""How long a node that was slow or silent while another answered is asked after the others."""

CONFIRMING_NODES_MIN = 2
"""Nodes that must say that something is not there, where there are as many: one alone may have lost
it, or lie."""

GREETING_KEPT_MS = 5_000
"""How long a node's answer on which chain it serves holds: an address may pass to another node
without a failed call in between."""

CONTRACTS_SEEN_MAX = 10_000
"""Contracts of which a node's highest block is kept: ten times as many as can run on it at once.
One beyond that is asked for its newest block before its next execution."""

SILENT_MS_MIN = 2_000
"""A question that was abandoned earlier says nothing of its node; the next one is asked by then."""

STANDING_LINES_MAX = 3
STANDING_LOG_S = 10
"""Log lines on one node that fails in ever new ways, and the seconds between further ones:
a node that dies cuts connections first and refuses them then."""

BURST_S = 2
"""Seconds of a paced node's allowance that are asked at once; gateways count over one to ten."""

PACE_MS_MAX = 10_000
"""A caller who would wait longer than this for a paced node is refused at once."""
