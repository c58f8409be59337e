"""Bounds of what a rollup service keeps and reads, each with its reason."""

TAIL_BYTES_MAX = 1_024
"""What a rollup may say after its claim; it is kept with a held block, and four rivals of a number
stand in one record."""

EARLY_COUNT_MAX = 341
"""How far a held block may be ahead of the first that is missing: every core of the full chain
(C) can report one while the first is late."""

RIVAL_COUNT_MAX = 4
"""Held blocks of one number. Versions of one block count once, so these are rebuilds after a parent
was dropped; more of them at a time is a builder at odds with itself."""

HELD_SLOTS_MAX = 80
"""How long a block waits for its parent. Five versions of nine slots and three waits of ten for
their accumulation are 75; by then the builder has given the parent up, and its children with it."""

REFUSAL_COUNT_MAX = 1_024
"""Refusals that can be read; at one in a slot they last for more than an hour and a half."""

STRANGER_COUNT_MAX = 64
"""Refusals of packages whose authorizer may not move the line, beside those of the others: enough
for a lane to read its own within a few slots, and strangers push out nothing but one another's."""

AUTHORIZER_COUNT_MAX = 8
"""Authorizers that may move one line: as many as a core's pool lists at a time (O). They are read
at every accumulation."""

OPERAND_GAS = 50_000
"""What the fate of one work item costs at accumulation: a hundred items stay below the ten million
that a report may use (G_A)."""
