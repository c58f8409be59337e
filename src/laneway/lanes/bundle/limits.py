"""Bounds of a bundle lane, each with its reason."""

CHAIN_KEPT_MAX = 64
"""Blocks of the best chain that are remembered, 40 bytes each: as many as one look names. An
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

LOOK_PAUSE_MS = 250
"""Between two looks, however often nodes notify of new blocks, or a quarter of `poll_ms` where that
is less: a block comes every six seconds, and a fork or finality now and then beside it."""

UNNAMED_SLOTS_MAX = 20
"""How long a block that is final waits for the service's record of it, which names the package that
brought it: two minutes of finality. A look that reads far back comes to that record within seconds;
beyond that no node has it, and the block is final all the same."""

OPEN_BYTES_MAX = 256 << 20
"""Payloads and packages of the blocks that are not final, all of which are in memory: 1,600 full
blocks, more than two hours of them. With more of them nothing new is begun."""

MADE_STEP_MS = 6_000
"""The coarsest unit in which a block's hash may hold its time, whatever the slots of its chain. A
block that is begun when another was dropped is made so much later than that one."""

HELD_SLOTS_MAX = 80
"""How long a service holds an early block, by docs/ledger-service.md. While it does, a block that
came to it by an unknown package may land."""

CORES_OFFERED_MAX = 4
"""Cores that one submission may try, one after the other."""

LINE_NUMBERS_MAX = 64
"""Open blocks that one look compares with the service's line, the lowest first: one small read for
each. Blocks become final in order, so the rest is compared later."""

FAULTS_MAX = 3
"""Transactions that are taken out one after the other, because no block can be built with them,
before the lane halts: three in a row are the builder's own trouble, and no more of them are refused
for it."""

HELP_TRIES_MAX = 5
"""Times in a row that a builder says it needs an operator before the lane halts: half a minute, in
which a node may be back that has what is missing."""

STARTS_MAX = 3
"""Starts in a row that find the same block being executed before it is begun with less in it: a
process is ended once in a while for any reason, and seldom three times within one block."""

STUCK_TRIES_MIN = 4
"""Times in a row that a builder could not build the block that waits before the lane is called
unwell: a quarter of a minute, longer than a node's restart takes."""

UNSEEN_LOOKS_MIN = 16
"""Looks in a row that came back with nothing before the lane is called unwell: a quarter of a
minute of those that fail at once, and longer of those that wait for an answer."""

OVERTAKEN_MIN = 8
"""Times in a row that another deployment was quicker before the lane is called unwell: two that
share a service fairly are not overtaken as often, and where one starves it takes some ten slots."""

ANSWERS_KEPT_MAX = 2
"""The weightiest answers of the last submission, which a version's row keeps; it stays under 1
KB."""

WORDS_BYTES_MAX = 60
"""Of foreign words in a version's row, which holds some of them and stays under 1 KB."""

REASON_KEPT_BYTES_MAX = 150
"""Of the reason why a block waits, in its slot's row."""

WAITS_BYTES_MAX = 150
"""Of the reason why the first block waits, in the lane's head: as much as that block's row has."""

TROUBLE_BYTES_MAX = 100
"""Of each reason why the chain cannot be looked at or callbacks fail, in the lane's head: the
longest remedy of a builder is 85 bytes, and stands after the problem."""

HEAD_REASONS_BYTES_MAX = 580
"""Bytes of all reasons in the lane's head together, the one of its mode included: the head stays
under 1 KB. The first block's gives way to the others, since its own row has it too: it is cut to
`TROUBLE_BYTES_MAX`, and left out where less is left."""

RETRY_GROWTH_MAX = 5
"""Doublings of the pause before a builder is asked again for what it could not build, or a callback
is made again that failed: half a minute, which is five slots."""

CONTENDED_SLOTS_MAX = 2
"""The longest pause, in timeslots, before a builder is asked again for a block on whatever the
service has: others build on that service too, and a block is built in a gap that they leave."""

TELLS_BATCH_MAX = 64
"""Callbacks that are made one after the other before the lane is notified of them."""

TELLS_OWED_MAX = 2_048
"""Callbacks that wait for a listener which does not answer, with the hashes of their transactions:
about 36 MB of full blocks, four for each, and three quarters of an hour. With more no block is
begun; those that are open add up to four each, and what a fork takes back is added to that."""

LATE_EVENT_SLOT_SHARE = 4
"""A time that lies ahead by more than its pause and such a share of a slot shows a clock that was
set back: answers have the time of when they were given and are judged after later ones, and the
clocks of a fleet's processes differ."""

PAGES_AHEAD = 2
"""Pages of the backlog held ahead: about as much as one block takes."""

FOREIGN_DOUBT_MS = 86_400_000
"""How long after blocks of others were seen a transaction that comes in may still be one of those
that they executed, as far as the lane knows: a day, in which callers without an answer send theirs
again, and by which no two clocks are apart. Later ones were compared with the state after these
blocks when they came in."""
