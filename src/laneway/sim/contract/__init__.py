"""Worlds of contract lanes."""
