"""Bounds of the unified binary tree, each with its reason."""

from typing import Final

STEM_BYTES: Final = 31
"""EIP-7864: the first bytes of a key choose a group of 256 values, the last one chooses in it."""

STEM_BITS: Final = 8 * STEM_BYTES
"""How deep a group can stand. A tree is walked by recursion, twice for each level: 248 frames of
Python's 1,000."""

SUBTREE_LEVELS: Final = 8
"""The levels of hashes above the 256 values of a group."""

VALUES_HASHED_AFRESH_MAX: Final = 4
"""A group with more values keeps the hashes above them; below, keeping costs more than hashing."""

CODE_SIZE_MAX: Final = (1 << 24) - 1
"""The basic data leaf has three bytes for it."""

NONCE_MAX: Final = (1 << 64) - 1
BALANCE_WEI_MAX: Final = (1 << 128) - 1
"""What fits into the basic data leaf."""

CODE_INDEX_MAX: Final = (128 + (CODE_SIZE_MAX + 30) // 31) >> 8
"""The last group in which an account can have code; storage must not be written there."""

PROOF_KEYS_MAX: Final = 1 << 16
"""Keys of one proof: a block of 30 million gas reads at most 15,000 cold slots."""

SECTION_BYTES_MAX: Final = 13_791_360
"""A witness section is in a work package's bundle, and the Gray Paper allows no more for one."""
