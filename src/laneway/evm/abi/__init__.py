"""Calls in words: a signature or an ABI and arguments → calldata; calldata, logs and what a revert
returned → words.

The coding of values is eth-abi's (extra `abi`), imported with the first value that is coded.
"""
