"""Worlds of rollup lanes: blocks as work packages on a JAM chain that misbehaves."""
