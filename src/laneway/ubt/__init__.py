"""Pure: the unified binary tree, its profiles, the state of a chain in it, proofs and witnesses.

The names below are what a program needs to use the tree by itself (docs/ubt.md); hashing with
blake3 is the extra `ubt`.
"""

from laneway.ubt.account import BasicData, chunkify
from laneway.ubt.errors import InvalidTree, UnprovenTree, UnprovenTreeKey
from laneway.ubt.keys import KeyKind, TouchedKey
from laneway.ubt.multiproof import MultiProof, ProvenKeys, prove, verify
from laneway.ubt.multiproof_bytes import decode_multiproof, encode_multiproof
from laneway.ubt.profile import EIP7864_2025, EIP7864_2026, GETH, JAM, JAM_EIP, TreeProfile
from laneway.ubt.single import SingleProof, prove_one, verify_one
from laneway.ubt.state import TreeState, TreeStateView
from laneway.ubt.tree import StoredStem, UnifiedTree
from laneway.ubt.witness import make_witness, read_section

__all__ = [
    "EIP7864_2025",
    "EIP7864_2026",
    "GETH",
    "JAM",
    "JAM_EIP",
    "BasicData",
    "InvalidTree",
    "KeyKind",
    "MultiProof",
    "ProvenKeys",
    "SingleProof",
    "StoredStem",
    "TouchedKey",
    "TreeProfile",
    "TreeState",
    "TreeStateView",
    "UnifiedTree",
    "UnprovenTree",
    "UnprovenTreeKey",
    "chunkify",
    "decode_multiproof",
    "encode_multiproof",
    "make_witness",
    "prove",
    "prove_one",
    "read_section",
    "verify",
    "verify_one",
]
