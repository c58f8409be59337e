"""JAM chains: JIP-2 over WebSocket, and what its answers prove of a work package."""
