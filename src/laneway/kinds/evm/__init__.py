"""Lanes of EVM accounts."""
