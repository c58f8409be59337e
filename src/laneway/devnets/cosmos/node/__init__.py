"""The Cosmos devnet's nodes: CometBFT's RPC, the SDK's REST, and the clock."""
