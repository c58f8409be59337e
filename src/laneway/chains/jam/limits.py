"""Bounds of the JAM adapter, each with its reason."""

SUBMIT_ALL_MS = 30_000
"""Of one submission on all cores of a node, and its nodes are asked at once: five slots, of the
eight blocks an anchor lives. After it no other core is tried."""

OFFERS_MAX = 16
"""Answers of one node in one submission: eight cores, each for a bundle and for a package."""

SUBSCRIBE_MS = 5_000
"""A node gives a subscription's number at once; without one the package is polled."""

WALK_BLOCKS_MAX = 256
"""How far a fork is followed back by parents, which are asked for one after the other: 25 minutes
of blocks. After a longer gap the head is looked at alone, whose state shows what was before."""

READ_SLOTS, READ_MS_MIN = 20, 3_000
"""The time of one call, up to the ten seconds of every kind of node: on a development chain with
slots of 100 ms an anchor is dead after a second, and a busy machine may still pause for two. A
package for one core has the same: a node answers when the first guarantor has the bytes."""

HEDGE_PER_SLOT, HEDGE_MS_MIN, HEDGE_MS_MAX = 4, 100, 1_500
"""A node that is silent for a quarter of a slot is asked no longer alone. The least is more than a
node on the same machine needs, and the most is that of a slot of six seconds."""

TURN_SLOTS, TURN_MS_MIN, TURN_MS_MAX = 10, 20_000, 60_000
"""The time of one node with one question of many steps, after which another node is asked: a walk
of 256 blocks at 50 ms each fits into the least."""

NODE_BEHIND_SLOTS = 16
"""A node whose newest block is so much older than that of the others is named in health: a minute
and a half, in which one that was just started, or cut off, may catch up."""

COMMON_STEPS_MAX = 32
"""How far the forks of two nodes are followed back to where they meet: blocks that one has and the
other is about to have, and a fork of some blocks. A node further away proves nothing."""

FINAL_NEAR_SLOTS = 8
"""Two nodes that differ by no more in what is final are taken for alike; otherwise a third one is
asked as well. Finality comes in steps, and nodes learn of them one after the other."""

NEW_SLOTS_MAX = 3
"""Slots that a block may be ahead of what its arrival suggests: the clock's grain, a slot that had
begun, and a node that was quicker than the others."""

LOOK_BLOCKS_MAX = 64
"""New blocks of one look, each with some reads for every package."""

LOOK_AT_ONCE = 8
"""Blocks that are read at once: a node that is 100 ms away answers for 64 in four seconds, not in
half a minute, and no more than eight histories are read for it at a time."""

LOOK_PACKAGES_MAX = 1_024
"""Packages of one look: three times the cores of a full chain."""

KNOWN_BLOCKS_MAX = 256
"""Blocks that a watch remembers, as many as are walked back."""

PARENTS_KEPT_MAX = 1_024
"""Blocks whose parents are remembered: four times as many as are walked back, half a kilobyte
each."""

STATES_KEPT_MAX = 16
"""Blocks of which the history of accumulation is remembered; on a full chain it may have six
megabytes as it is sent, and some hundred kilobytes when it is read."""

FINALITY_BLOCKS = 8
"""How deep a block is taken as final on a node that calls its best block final: as many blocks as
an anchor lives. A setting."""

HEADS_PAUSE_MS = 100
"""Between two reads of the head because of notices: a node that notifies without end costs the
others ten questions a second."""

HEADS_KEPT_MAX = 32
"""Arrivals of blocks that the slot clock is reckoned from: three minutes."""

SEGMENTS_PER_CALL_MAX = 64
"""Of one answer; each has 4,104 bytes, and JSON makes 5,472 of them."""

STALE_BLOCKS_MIN = 2
"""Blocks that an anchor should have left when a package is offered: seed 000 rebuilds when its age
is above six of eight."""

RECORDS_PER_CALL_MAX = 256
"""Reads that go out together: also a node that answers them one after the other, at 30 ms each, has
done so in its time. All numbers under which a service may hold a block are two such portions."""

HELD_NEAR = 32
"""Numbers that are read to see whether a package is held which a node calls failed: held blocks are
as far ahead as blocks are in flight. Where silence has to be a proof, all of them are read."""

SLOT_S_MAX = 86_400
"""Of one slot: a day, so that the time of the last slot of all still fits into 64 bits."""

QUIET_HEDGES = 4
"""How many times as long as a read's next node a submission waits for nodes that say nothing, once
another one refused: a slot of six seconds, after which the same bytes are offered again. An answer
that comes later is not lost: the package is, or is not, in a block."""

BEHIND_MAX = 16
"""Offers to one node that go on after their submission was answered, each of another package: twice
the packages that anchors of eight blocks let be on their way to one core. Each holds its bytes,
which may be thirteen megabytes, for the time of one submission."""
