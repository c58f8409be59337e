"""The key that signs a rollup's packages for the authorizer that asks for it, held in this process.

| scheme | place |
|---|---|
| file | a file with 64 hex digits, the seed of an Ed25519 key, that only its owner may read |
| env | a variable with 64 hex digits |
"""

import os
from collections.abc import Mapping

from laneway.jam.ed25519 import HeldEd25519Key
from laneway.signers.place import PACKAGE_SCHEMES, split
from laneway.signers.secrets import parse_digits, read_key_file, read_variable


def open_package_key(uri: str, environ: Mapping[str, str] | None = None) -> HeldEd25519Key:
    """The key that `uri` names; SignerUnusable says what a person must fix."""
    environ = os.environ if environ is None else environ
    scheme, place = split(uri, PACKAGE_SCHEMES)
    source, content = read_variable(place, environ) if scheme == "env" else read_key_file(place)
    return HeldEd25519Key(parse_digits(source, content))
