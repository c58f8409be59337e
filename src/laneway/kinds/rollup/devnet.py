"""A JAM chain inside this process, for trying out a rollup: what it is called, and what it says.

It goes on where it ended, as long as the database does: beside that stand the calls that made it.
"""

import os

from laneway.builder.packages import Authorizer
from laneway.core.errors import StoreRefused
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.journal import Journal
from laneway.devnets.jam.limits import SLOT_MS_DEFAULT
from laneway.devnets.jam.model.values import NULL_AUTHORIZER_HASH
from laneway.jam.ed25519 import SEED_BYTES, HeldEd25519Key
from laneway.jam.package import authorizer_hash
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.kinds.rollup.section import RollupSection
from laneway.kinds.rollup.service import authorizer_of, signing
from laneway.kinds.served import SERVER_DEFAULT
from laneway.signers.authorizer import make_package_key, open_package_key
from laneway.signers.place import SignerUnusable

NODE_NAME = "dev"
"""It is committed with what is offered, so it stays."""
KEY_SUFFIX = "-jam-key"
"""After the name of the database: the key of the chain beside it, whose own file ends with -jam."""


def open_devnet(
    section: RollupSection, store_path: str, authorizer: Authorizer | None = None
) -> JamDevnet:
    """Its node is at any free port of this machine. A chain that begins lets the rollup's own
    authorizer move its line and no other; one that goes on has the list that it began with. The
    rollup's own is that of its table, unless another is named."""
    kept = kept_chain(store_path)
    own = authorizer or authorizer_of(section)
    slot_ms = SLOT_MS_DEFAULT if section.slot_ms is None else section.slot_ms
    return JamDevnet(
        slot_ms=slot_ms,
        journal=kept,
        rollup=rollup_kinds()[section.kind],
        authorizers=[authorizer_hash(own.code_hash, own.config)],
    )


def kept_chain(store_path: str) -> Journal | None:
    """The file beside the database that the chain goes on from; None where nothing is kept."""
    return None if store_path == ":memory:" else Journal(f"{store_path}-jam")


def embedded_authorizer(section: RollupSection, store_path: str) -> Authorizer:
    """That of the rollup's table. Where it names none, a key that is made with the chain signs the
    packages, so that nobody else moves the line; a chain that was begun without one, as earlier
    releases did it, goes on so."""
    if section.authorizer is not None:
        return authorizer_of(section)
    kept = kept_chain(store_path)
    if kept is None:
        return signing(section.service, HeldEd25519Key(os.urandom(SEED_BYTES)))
    begun, path = kept.authorizers(), f"{store_path}{KEY_SUFFIX}"
    if begun is not None and (not begun or NULL_AUTHORIZER_HASH in begun):
        return authorizer_of(section)
    if begun is None and not os.path.exists(path):
        make_package_key(path)
    try:
        return signing(section.service, open_package_key(f"file:{path}"))
    except SignerUnusable as error:
        problem = f"the key of the chain beside the database: {error.problem}"
        raise StoreRefused(
            path, f"{problem}; put it back, or begin anew with another database"
        ) from None


def devnet_lines(devnet: JamDevnet, server: str) -> list[str]:
    """What a person needs to try it out."""
    again = f", {devnet.replayed_count} slots and calls played again" * bool(devnet.replayed_count)
    lines = [f"JAM node    {devnet.url} ({devnet.model.spec.name} chain in this process{again})"]
    kind = devnet.rollup
    if devnet.accounts:
        lines += [f"accounts    and their keys, which everybody knows; {kind.dev_note}:"]
    named = enumerate(devnet.accounts)
    lines += [f"  dev:{place}  {one.id.hex()}  {one.secret.hex()}" for place, one in named]
    where = "" if server == SERVER_DEFAULT else f" --url {server}"
    if kind.example:
        lines += [f"try         laneway rollup send {kind.example} --wait{where}"]
    return lines
