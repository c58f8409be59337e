"""The Cosmos devnet: accounts, blobs and blocks, and what nodes with a CAT mempool say of them."""
