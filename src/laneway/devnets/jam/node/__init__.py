"""The JAM devnet's nodes: JIP-2 and the methods for tests, and the clock."""
