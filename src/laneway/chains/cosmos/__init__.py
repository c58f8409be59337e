"""The adapter to Cosmos chains: CometBFT's JSON-RPC of one node or several."""
