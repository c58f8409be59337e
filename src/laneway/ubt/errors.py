"""Why a state does not fit into the tree, or a proof is not believed; operands build the message.

InvalidTree
├── a key     MalformedTreeKey · MalformedTreeValue · MalformedStem
├── a state   BalanceTooBig · NonceUnfit · CodeTooBig · CodeUnknown · SlotShadowed
└── a proof   UnprovenTree (UnprovenTreeKey)
"""

from laneway.core.errors import InvalidValue


class InvalidTree(InvalidValue):
    code = "tree_invalid"
    message = "the tree is invalid"


class MalformedTreeKey(InvalidTree):
    code = "tree_key_malformed"
    message = "a key of the tree has {given} bytes instead of 32"


class MalformedTreeValue(InvalidTree):
    code = "tree_value_malformed"
    message = "the value of {key} has {given} bytes instead of 32"


class MalformedStem(InvalidTree):
    code = "stem_malformed"
    message = "stem {stem} of a stored tree: {problem}"


class BalanceTooBig(InvalidTree):
    code = "balance_too_big"
    message = "the balance of {address} is {balance_wei} wei, and the tree holds less than 2^128"


class NonceUnfit(InvalidTree):
    code = "nonce_unfit"
    message = "the nonce of {address} is {nonce}, and the tree holds less than 2^64"


class CodeTooBig(InvalidTree):
    code = "code_too_big"
    message = "the code of {address} has {given} bytes, and the tree holds less than 2^24"


class CodeUnknown(InvalidTree):
    code = "code_unknown"
    message = "the code of {address} with hash {code_hash} is not known here"


class SlotShadowed(InvalidTree):
    """JAM keys wrap: such a slot has the place of the account's own header or code."""

    code = "slot_shadowed"
    message = "slot {slot} of {address} has the place of the account's header or code"


class UnprovenTree(InvalidTree):
    code = "tree_unproven"
    message = "the proof is not one of this root: {problem}"


class UnprovenTreeKey(UnprovenTree):
    code = "tree_key_unproven"
    message = "the proof shows nothing about {key}"
