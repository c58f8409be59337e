"""Bounds of the simulator, each with its reason."""

STEPS_MAX = 50_000
"""Steps of one world. Most need a few hundred; thirty payments through pools of four, one event a
turn, take 21,000. More means that something spins."""

FAULTS_MS = 8_000
"""Virtual time in which faults happen: a dozen rounds and several leases."""

QUIET_MS_MAX = 600_000
"""Virtual time after the faults stop in which everything must come to an end."""

JUMPS_MAX = 4
"""Times that clocks are set in one world, and set right again."""

JUMP_MS_MIN, JUMP_MS_MAX = 700, 7_200_000
"""How far a clock is set: from a little more than one slot to two hours, which is longer than any
time that a lane waits for."""

JUMPING_FROM_MS = 100_000_000
"""What worlds in which clocks jump begin after, so that no clock is set to before 1970."""

WRONG_MS_MAX = 5_000
"""How long a clock stays wrong: ten slots, in which packages die and lanes are taken over."""
