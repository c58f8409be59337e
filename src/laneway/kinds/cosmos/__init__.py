"""Lanes of Cosmos accounts."""
