"""Pure: what the EVM reads and changes: accounts, storage and code."""
