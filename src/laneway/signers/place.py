"""A signer's address in a configuration, SCHEME:PLACE: how it is read, and how it is printed.

A key itself is never part of it; where somebody wrote one all the same, it is not shown.
"""

import re

from laneway.core.errors import CallerError
from laneway.core.urls import REDACTED, shown_url
from laneway.signers.limits import MNEMONIC_WORDS_MIN


class SignerUnusable(CallerError):
    """A signer that cannot be opened as it is described; a person must act. Never shows a secret:
    the source is what it was called by, the problem is in our own words."""

    code = "signer_unusable"

    def __init__(self, source: str, problem: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}")


SCHEMES = ("keystore", "file", "env", "web3signer", "aws-kms")
HELD = ("keystore", "file", "env")
"""The schemes whose key is held in this process."""
COSMOS_SCHEMES = (*HELD, "mnemonic")
PACKAGE_SCHEMES = ("file", "env")
"""Of the key that signs a rollup's packages."""
NOT_BUILT = ("gcp-kms", "azure-kv", "vault-kv")

HIDDEN = "(not shown)"
_KEY_LIKE = re.compile(r"(?:0x)?[0-9a-f]{64}", re.I)
_HOLDER = re.compile(r"(?:0x)?(?:[0-9a-f]{40}|(?:04)?[0-9a-f]{128})", re.I)
"""An account's address or its public key: both are public."""


def split(uri: str, schemes: tuple[str, ...] = SCHEMES) -> tuple[str, str]:
    """The scheme and the place; SignerUnusable says what a person must change."""
    scheme, _, place = uri.partition(":")
    if is_like_a_key(uri) or is_like_a_key(place) or len(uri.split()) >= MNEMONIC_WORDS_MIN:
        # Not shown, and not "unknown scheme": it is a secret in the wrong place.
        raise SignerUnusable(
            "signer",
            "this looks like a key itself, which has no place here; "
            "put it into a file that only you may read and say file:PATH",
        )
    if scheme in NOT_BUILT:
        raise SignerUnusable(scheme, f"not built yet; there is {', '.join(schemes)}")
    if scheme not in schemes:
        known = ", ".join(f"{name}:" for name in schemes)
        raise SignerUnusable("signer", f"its address begins with one of {known}")
    if not place:
        raise SignerUnusable(scheme, "something belongs after the colon")
    return scheme, place


def is_like_a_key(text: str) -> bool:
    """Whether someone may have written a key where a name or a path belongs."""
    return _KEY_LIKE.fullmatch(text.strip().rpartition("/")[2]) is not None


def shown_place(text: str) -> str:
    """A name or a path for an error, unless it may itself be a key."""
    return HIDDEN if is_like_a_key(text) else text


def shown_signer(uri: str) -> str:
    """A signer's address as it may be printed."""
    try:
        scheme, place = split(uri, (*SCHEMES, *COSMOS_SCHEMES))
    except SignerUnusable:
        return REDACTED
    if scheme != "web3signer":
        return uri
    url, hash_, holder = place.partition("#")
    shown = holder if _HOLDER.fullmatch(holder) or not holder else REDACTED
    return f"{scheme}:{shown_url(url)}{hash_}{shown}"
