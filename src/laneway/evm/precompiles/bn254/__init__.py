"""The pairing-friendly curve of EIP-196 and EIP-197, also called alt_bn128."""
