"""The EVM devnet's nodes: JSON-RPC as anvil speaks it, and the clock that mines."""
