"""Which packages an authorizer lets pass: the signed one those that carry a signature of its key,
and any other, like the null authorizer of development networks, all of them.

A chain runs an authorizer's code on a package before anything of it is refined (Gray Paper 0.7.2,
§14.4 and appendix B.2). Here a function stands in the place of the code, found by the hash by which
packages name it. Which authorizers a core takes is for its pool to say, and which may move a
rollup's line for its service.

`sign_package` needs a package that names the signed authorizer, with the public key as its config.
"""

from typing import Final

from msgspec.structs import replace

from laneway.jam.ed25519 import HeldEd25519Key, is_weak, verifies
from laneway.jam.hashing import blake2b
from laneway.jam.package import WorkPackage, authorizer_hash, package_hash

SIGNED_AUTHORIZER: Final = blake2b(b"laneway-signed-authorizer/1")
"""Stands for the hash of the code of an authorizer whose config is an Ed25519 public key."""
SIGNED_TAG: Final = b"laneway-signed-package/1"

UNSIGNED: Final = "the authorizer refuses what is not signed with the key in its config"


def signed_authorizer_hash(public_key: bytes) -> bytes:
    """The authorizer that lets pass what this key signed, as pools and services list it."""
    return authorizer_hash(SIGNED_AUTHORIZER, public_key)


def signed_message(package: WorkPackage) -> bytes:
    """What the key signs: the hash of the package without its authorization. All else of a package
    is in it, down to the anchor, so the signature is good for these items on this chain alone."""
    return SIGNED_TAG + package_hash(replace(package, authorization=b""))


def sign_package(package: WorkPackage, key: HeldEd25519Key) -> WorkPackage:
    """The package with the authorization that its authorizer asks for."""
    assert package.auth_code_hash == SIGNED_AUTHORIZER
    assert package.authorizer_config == key.public_key
    return replace(package, authorization=key.sign(signed_message(package)))


def authorization_problem(package: WorkPackage) -> str:
    """Why the package's authorizer does not let it pass; empty if it does. Code that is not known
    here lets everything pass, as on a chain whose pools list it in trust."""
    if package.auth_code_hash != SIGNED_AUTHORIZER:
        return ""
    key = package.authorizer_config
    # Anybody can sign for a weak key, so it would let everybody pass.
    if is_weak(key) or not verifies(key, package.authorization, signed_message(package)):
        return UNSIGNED
    return ""
