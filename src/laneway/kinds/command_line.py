"""What a kind of lane adds to the commands that all kinds share, and how they print its part.

Importing a kind's part is cheap: every listing of such a command asks for it.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from laneway.core.ids import LaneId, lane_kind
from laneway.kinds.registry import kinds

if TYPE_CHECKING:
    from laneway.console.remote import Output
    from laneway.wire.values import Lane, LaneHealth, Tx

F = TypeVar("F", bound=Callable[..., Any])
Facts = list[tuple[str, object]]
"""A name and a value on each line."""


class CommandLine:
    """One kind on the command line. A kind without one of its own is sent as JSON, and what it
    shows is printed by its names."""

    verbs: ClassVar[Mapping[str, Sequence[click.Command]]] = {}
    """Its commands in groups of all kinds: `tx`, `lane` and `devnet`."""
    send_options: ClassVar[Sequence[click.Option]] = ()
    """Of `laneway send`. Two kinds may have the same one, which is the first kind's."""
    words: ClassVar[Mapping[str, Any]] = {}
    """What a line of its file may say, by the names of the options: their types."""
    content: ClassVar[Sequence[str]] = ("data",)
    """The words of which a request has one at least."""
    up_options: ClassVar[Sequence[click.Option]] = ()
    """Of `laneway up`."""

    def read_options(self, options: MutableMapping[str, Any]) -> None:
        """Bring its options of `laneway send` into the form of a file's words."""

    def prepare(self, configuration: Any, options: Mapping[str, Any]) -> Any:
        """The configuration that `laneway up` runs by, with what its options ask for."""
        return configuration

    def number(self, tx: "Tx") -> str:
        """The place of a transaction on its chain, in short; empty while it has none."""
        return ""

    def tx_facts(self, tx: "Tx") -> Facts:
        """All that is known of a transaction."""
        return [
            *where(tx),
            ("block", tx.block),
            ("next attempt", tx.next_attempt_at and tx.next_attempt_at.isoformat()),
            *whence(tx),
            ("priority", tx.priority or None),
            *details(tx),
        ]

    def lane_facts(self, lane: "Lane | LaneHealth") -> Facts:
        """What only its lanes have."""
        return details(lane)


def command_line(lane: str) -> CommandLine:
    """Of the kind that a lane is of."""
    kind = kinds().get(lane_kind(LaneId(lane)))
    return CommandLine() if kind is None else kind.command_line()


def command_lines() -> list[CommandLine]:
    return [kind.command_line() for kind in kinds().values()]


def where(tx: "Tx") -> Facts:
    return [
        ("tx", tx.id),
        ("lane", f"{tx.lane} #{tx.seq}"),
        ("status", tx.status),
        ("why", tx.reason),
    ]


def whence(tx: "Tx") -> Facts:
    return [
        ("key", tx.idempotency_key),
        ("retry of", tx.retry_of),
        ("accepted", tx.accepted_at.isoformat()),
        ("settled", tx.settled_at and tx.settled_at.isoformat()),
        ("valid until", tx.valid_until and tx.valid_until.isoformat()),
        ("trace", tx.traceparent),
    ]


def details(value: "Tx | Lane | LaneHealth") -> Facts:
    return list(value.details.items()) if isinstance(value.details, dict) else []


def output_tx(output: "Output", tx: "Tx") -> None:
    """One line, or an object."""
    output.value(tx, tx_line(tx))


def tx_line(tx: "Tx") -> str:
    block = "" if tx.block is None else f"block {tx.block}"
    place = (f"{tx.lane} #{tx.seq}", command_line(tx.lane).number(tx), block, tx.hash or "")
    return joined("  ", tx.id, f"{tx.status:<9}", *place, tx.reason)


def joined(between: str, *parts: str | None) -> str:
    return between.join(part for part in parts if part)


# Options that several kinds have.


def option(
    flags: str, purpose: str, metavar: str | None = None, *, whose: str = "", **more: Any
) -> click.Option:
    """An option of a kind: its flag, and the name of its value where that differs."""
    return click.Option(flags.split(), metavar=metavar, help=whose + purpose, **more)


def setting(flag: str, type_: Any, default: Any, help_: str) -> Callable[[F], F]:
    """An option of a development chain, which shows its default."""
    return click.option(flag, type=type_, default=default, show_default=True, help=help_)


TO = option(
    "--to", "Accounts: to whom; of EVM accounts --data alone creates a contract.", "ADDRESS"
)
GAS = option("--gas", "Accounts: estimated if it is left out.", type=click.IntRange(1))


def at_port(default: int, who: str = "it") -> Callable[[F], F]:
    purpose = f"Where {who} listens on this machine; 0 takes a free one."
    return setting("--port", click.IntRange(0, 65_535), default, purpose)


accounts_as_json = click.option(
    "--json", "as_json", is_flag=True, help="Tell where it is, and its accounts, as JSON."
)
