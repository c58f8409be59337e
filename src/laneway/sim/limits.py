"""Bounds of the simulator, each with its reason."""

STEPS_MAX = 50_000
"""Steps of one world. Most need a few hundred; thirty payments through pools of four, one event a
turn, take 21,000. More means that something spins."""

FAULTS_MS = 8_000
"""Virtual time in which faults happen: a dozen rounds and several leases."""

QUIET_MS_MAX = 600_000
"""Virtual time after the faults stop in which everything must come to an end."""
