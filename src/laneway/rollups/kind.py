"""What the outside asks of a kind of rollup: before there is a chain, a builder or a server.

A kind is a folder here, or a class of another distribution that is named in its entry-point group
`laneway.rollups`. Importing a kind is cheap: what needs an extra is imported when it is asked for.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from msgspec import Struct

from laneway.core.errors import BadRequest

if TYPE_CHECKING:
    from laneway.jam.service.interface import Service
    from laneway.rollups.domain import Domain
    from laneway.rollups.rules import RollupRules

S = TypeVar("S")
"""A state of the rollup."""
B = TypeVar("B")
"""A block of the rollup."""


class KnownAccount(Struct, frozen=True):
    """An account that development chains begin with, and whose key everybody knows."""

    id: bytes
    secret: bytes


class Option(Struct, frozen=True, kw_only=True):
    """An option of `laneway rollup send` from which a kind makes its transaction."""

    flag: str
    """With its dashes; without them it is the name of its value."""
    reads: Literal["key", "account", "count", "text"]
    """What the value is. A key is named by its file or as `dev:N`, and 32 bytes; an account is
    bytes, a count a whole number."""
    help: str
    metavar: str | None = None

    def name(self) -> str:
        return self.flag.lstrip("-").replace("-", "_")


class KindOfRollup(Generic[S, B]):
    """One kind of rollup. What is not overridden is the answer of a kind that has none of it."""

    name: ClassVar[str]
    """Its `kind` in `[[rollup]]`, and its name in `laneway up --rollup NAME`."""
    genesis_key: ClassVar[bytes]
    """The key under which its service's storage holds what the rollup began with."""

    # The rollup and its service on a chain. `chain` is the hash of the chain's first header.

    def rules(self, domain: "Domain") -> "RollupRules[S, B]":
        """The rules by which its builder makes blocks."""
        raise NotImplementedError

    def code_hash(self, chain: bytes) -> bytes:
        """The hash that stands for the code of its service."""
        return self.service(chain).code_hash

    def service(self, chain: bytes) -> "Service":
        """What guarantors and the chain call."""
        raise NotImplementedError

    # Development chains.

    def dev_storage(self) -> Mapping[bytes, bytes]:
        """What its service's storage begins with on a development chain."""
        raise NotImplementedError

    def dev_accounts(self) -> Sequence[KnownAccount]:
        """The accounts that have something there."""
        return ()

    dev_note: ClassVar[str] = ""
    """What each of them has."""
    example: ClassVar[str] = ""
    """Options of a first `laneway rollup send` there."""

    # People's requests.

    options: ClassVar[Sequence[Option]] = ()
    """What `laneway rollup send` needs to make a transaction."""
    about: ClassVar[str] = ""
    """What the help of that command says of them."""
    account_form: ClassVar[str] = ""
    """How an account is written; empty if there are none."""

    def account_id(self, text: str) -> bytes:
        """The id of an account as people write it."""
        raise BadRequest("account", f"a {self.name} has no accounts")

    def sender(self, values: Mapping[str, Any]) -> bytes | None:
        """The account whose nonce a transaction uses; None if it uses none."""
        return None

    def transaction(self, domain: "Domain", values: Mapping[str, Any], nonce: int) -> bytes:
        """The transaction that these values of its options ask for, signed. `nonce` counts from 0
        where there is no sender. BadRequest names the option that is wrong."""
        raise BadRequest("raw", f"a {self.name} takes signed transactions alone")
