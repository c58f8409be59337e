"""Speaks to EVM nodes over JSON-RPC."""
