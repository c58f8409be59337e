"""Transactions of a rollup as a person asks for them: the options of its kind, accounts, keys.

What a kind does with them is imported late: the curve is an extra (`rollup`). A key is never read
from the command line.
"""

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from laneway.console.printing import say
from laneway.core.errors import BadRequest
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.rollups.kind import KindOfRollup, KnownAccount, Option
from laneway.wire.hex import octets

if TYPE_CHECKING:
    from laneway.console.remote import Client
    from laneway.wire.rollup import RollupStatus

T = TypeVar("T")
RollupKindHere = KindOfRollup[Any, Any]

DEV = "dev:"
SECRET = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")
KEY_FILE_BYTES_MAX = 1_024
"""A secret has 64 digits; more is another file."""


def own_options(command: Callable[..., T]) -> Callable[..., T]:
    """The options of every kind that is installed, each flag once."""
    options = {option.flag: option for kind in rollup_kinds().values() for option in kind.options}
    for option in reversed(options.values()):
        reads = click.IntRange(0) if option.reads == "count" else click.STRING
        command = click.option(
            option.flag, option.name(), type=reads, metavar=option.metavar, help=option.help
        )(command)
    return command


def send_help(text: str) -> str:
    """The help of `send`, with what each kind says of its options."""
    return "\n\n".join([text, *(kind.about for kind in rollup_kinds().values() if kind.about)])


def account_forms() -> str:
    forms = [kind.account_form for kind in rollup_kinds().values() if kind.account_form]
    return " or ".join(dict.fromkeys(forms))


def kind_of(status: "RollupStatus") -> RollupKindHere:
    found = rollup_kinds().get(status.rollup.kind)
    if found is None:
        name = status.rollup.name
        raise click.UsageError(f"{name} is a {status.rollup.kind}, and that is not installed here")
    return found


def kinds_asked(options: Mapping[str, Any]) -> list[RollupKindHere]:
    """The kinds for whose transactions these are all the options there are."""
    names = [name for name, value in options.items() if value is not None]
    kinds = [kind for kind in rollup_kinds().values() if kind.options]
    found = [kind for kind in kinds if sorted(names) == sorted(map(Option.name, kind.options))]
    if not found:
        say_them = [all_of([option.flag for option in kind.options]) for kind in kinds]
        raise click.UsageError(f"say {', or '.join([*say_them, '--raw'])}")
    return found


def all_of(flags: Sequence[str]) -> str:
    return " and ".join([part for part in (", ".join(flags[:-1]), flags[-1]) if part])


# Names of accounts and keys.


def known(kind: RollupKindHere, text: str) -> KnownAccount:
    """One of the accounts that every development chain begins with."""
    accounts, digits = kind.dev_accounts(), text.removeprefix(DEV)
    if not (digits.isascii() and digits.isdigit()) or int(digits) >= len(accounts):
        raise click.UsageError(f"{text}: say {DEV}0 to {DEV}{len(accounts) - 1}")
    return accounts[int(digits)]


def account_named(kind: RollupKindHere, text: str) -> bytes:
    if text.startswith(DEV) and kind.account_form:
        return known(kind, text).id
    try:
        return kind.account_id(text)
    except BadRequest as error:
        problem = f"an account is {kind.account_form}, or {DEV}N" * bool(kind.account_form)
        raise click.UsageError(f"{text}: {problem or error.problem}") from error


def key_named(kind: RollupKindHere, text: str) -> bytes:
    """The secret key of a name; an error shows nothing of the file."""
    if text.startswith(DEV):
        return known(kind, text).secret
    with open(text, "rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise click.UsageError(f"{text}: others may read it; run: chmod 600 {text}")
        content = file.read(KEY_FILE_BYTES_MAX)
    found = SECRET.fullmatch(content.decode("ascii", "replace").strip())
    if found is None:
        raise click.UsageError(f"{text}: it does not hold 64 hexadecimal digits")
    return bytes.fromhex(found[1])


# Transactions.


def transactions(
    client: "Client",
    rollup: str,
    options: Mapping[str, Any],
    *,
    nonce: int | None,
    count: int = 1,
) -> list[str]:
    """Signed ones, the first with the account's next nonce."""
    from laneway.rollups.domain import Domain

    kinds = kinds_asked(options)
    status = client.rollup(rollup)
    kind = rollup_kinds().get(status.rollup.kind)
    if status.chain is None or kind is None or kind not in kinds:
        names = " or ".join(one.name for one in kinds)
        raise click.UsageError(f"{rollup} is no {names}; hand in a signed transaction with --raw")
    values = {option.name(): value_of(kind, option, options) for option in kind.options}
    domain = Domain(bytes.fromhex(status.chain[2:]), status.rollup.service)
    first = next_nonce(client, rollup, kind, values) if nonce is None else nonce
    try:
        made = [kind.transaction(domain, values, first + place) for place in range(count)]
    except BadRequest as error:
        raise click.UsageError(f"--{error.field}: {error.problem}") from error
    return [octets(one) for one in made]


def value_of(kind: RollupKindHere, option: Option, options: Mapping[str, Any]) -> Any:
    value = options[option.name()]
    if option.reads == "key":
        return key_named(kind, value)
    return account_named(kind, value) if option.reads == "account" else value


def next_nonce(
    client: "Client", rollup: str, kind: RollupKindHere, values: Mapping[str, Any]
) -> int:
    sender = kind.sender(values)
    if sender is None:
        return 0
    own = client.rollup_account(rollup, octets(sender))
    if own.elsewhere:
        # A nonce that turns out to be used is refused, or answered as sent before.
        say(f"laneway: nonce {own.nonce_next} is a guess: {own.elsewhere}", err=True)
    return own.nonce_next
