"""The scripts as the server knows them: by the digest of their text."""

from hashlib import sha1
from importlib.resources import files

from msgspec import Struct

from laneway.stores.redis.calls import SCRIPTS


class Script(Struct, frozen=True):
    text: str
    sha: str


def scripts() -> dict[str, Script]:
    """Every script with the prelude that all of them begin with."""
    folder = files("laneway.stores.redis") / "lua"
    prelude = (folder / "prelude.lua").read_text()
    found = {}
    for name in SCRIPTS:
        text = prelude + (folder / f"{name}.lua").read_text()
        # The server's own name for a script; nothing is kept safe by it.
        found[name] = Script(text, sha1(text.encode(), usedforsecurity=False).hexdigest())
    return found
