"""The EVM devnet: accounts, blocks and what nodes say of them."""
