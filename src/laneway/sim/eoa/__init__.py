"""Worlds of account lanes: the nonce machine on the EVM chain model."""
