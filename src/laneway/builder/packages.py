"""Work packages from a block's work: who pays for the core, and what they lean on."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from laneway.core.jam import Context, Package
from laneway.jam.authorizers import sign_package
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.package import WORK_PACKAGE, RefineContext, WorkPackage, package_hash
from laneway.ports import MadePackage
from laneway.rollups.rules import BlockWork

NULL_AUTHORIZER: Final = bytes.fromhex(
    "f8d86b97d65319a078e5840f1614c296a5254217794dcc910e72ca174e3c2e86"
)
"""The hash of the code of the authorizer that lets everything pass, as dev networks have it."""


class Authorizer(Struct, frozen=True, kw_only=True):
    """By whose leave a package is refined."""

    host: int
    """The service that has its code."""
    code_hash: bytes = NULL_AUTHORIZER
    config: bytes = b""
    authorization: bytes = b""
    """What every package carries; with a key it is the package's own signature instead."""
    key: HeldEd25519Key | None = None
    """Signs each package, for the authorizer that lets pass only what this key signed."""


def refine_context(context: Context, prerequisites: Sequence[bytes]) -> RefineContext:
    return RefineContext(
        anchor=context.anchor.header_hash,
        state_root=context.state_root,
        beefy_root=context.beefy_root,
        lookup_anchor=context.lookup_anchor.header_hash,
        lookup_anchor_slot=context.lookup_anchor.slot,
        prerequisites=tuple(prerequisites),
    )


def packed(
    work: BlockWork, context: RefineContext, authorizer: Authorizer, block: bytes
) -> MadePackage:
    """The package of a block that is named by its hash. The same work, context and key make the
    same bytes, for Ed25519 is deterministic."""
    package = WorkPackage(
        auth_code_host=authorizer.host,
        auth_code_hash=authorizer.code_hash,
        context=context,
        authorization=authorizer.authorization,
        authorizer_config=authorizer.config,
        items=work.items,
    )
    if authorizer.key is not None:
        package = sign_package(package, authorizer.key)
    return MadePackage(
        block=block,
        package=Package(encoded=WORK_PACKAGE.encode(package), extrinsics=work.extrinsics),
        package_hash=package_hash(package),
    )
