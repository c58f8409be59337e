"""Hexary Merkle-Patricia tries: roots of lists and mappings, the state of accounts, proofs."""
