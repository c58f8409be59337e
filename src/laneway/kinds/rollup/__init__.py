"""Lanes of rollups on JAM chains."""
