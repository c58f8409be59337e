"""`laneway send`: one transaction, or a file of them; safe to run twice."""

from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any

import click
import msgspec
from msgspec import Struct
from msgspec.structs import fields

from laneway.cli.options import moment
from laneway.cli.shared import SharedCommand
from laneway.console.remote import Output, ended, remote
from laneway.core.ids import LaneId, lane_kind
from laneway.kinds.command_line import CommandLine, command_lines, output_tx
from laneway.kinds.registry import kinds
from laneway.wire.values import Moment

if TYPE_CHECKING:
    from laneway.client.blocking import Client


@click.command(cls=SharedCommand, after="data")
@click.argument("lane", required=False)
@click.argument("args", nargs=-1)
@click.option("--data", help="What the contract is given; of an account the call, 0x….")
@click.option("--payload", metavar="JSON", help="The API's `payload`, of any kind of lane.")
@click.option("--key", help="Idempotency key: with it the command is safe to run twice.")
@click.option("--valid-until", metavar="TIME", help="RFC 3339; not begun after it.")
@click.option("--file", type=click.File("rb"), help="JSON Lines; - is standard input.")
@click.option("--wait", is_flag=True, help="Until it is final; exits 0 only if confirmed.")
@click.option("--timeout", type=click.FloatRange(0), help="Seconds of the wait; exits 75 after.")
@remote
def send(
    client: "Client",
    output: Output,
    *,
    lane: str | None,
    args: tuple[str, ...],
    file: IO[bytes] | None,
    wait: bool,
    timeout: float | None,
    valid_until: str | None,
    payload: str | None,
    **typed: Any,
) -> int:
    """Queue a transaction; returns when it is durable.

    LANE is KIND:KEY, for example contract:QmToken, evm:CHAIN:ACCOUNT or cosmos:CHAIN:ACCOUNT. ARGS
    are those of --call, or of the constructor of --deploy: numbers in digits or with a unit
    (1.5ether), lists and tuples as JSON; before one that begins with a minus stands --.

    A file has one object a line with the options' names: {"lane": …, "data": …, "executor": …,
    "key": …} or {"lane": …, "to": …, "value": "1 gwei", "max_fee_per_gas": …} or {"lane": …,
    "to": …, "call": …, "args": […]} or {"lane": …, "blobs": [{"namespace": …, "data": BASE64}]}.
    The lines of one lane are sent in order, each when the one before it is durable; those of other
    lanes at the same time. A line without a key gets one from --key or from the file's contents,
    and its number: after any crash the same command goes on where it stopped and doubles nothing.
    """
    for kind in command_lines():
        kind.read_options(typed)
    typed["payload"] = None if payload is None else read_payload(payload)
    typed["args"] = list(args) or None
    typed["valid_until"] = None if valid_until is None else moment("--valid-until", valid_until)
    content = {name for kind in command_lines() for name in kind.content}
    is_typed = any(typed[name] is not None for name in (*content, "payload"))
    if is_typed == (file is not None):
        ways = "--data, --to, --call, --deploy, --blob, --message, --payload or --file"
        raise click.UsageError(f"say what to send: {ways}")
    lines = read_file(file, lane, typed) if file is not None else [typed_line(lane, typed)]
    from laneway.cli.pipeline import post_all

    sent = post_all(client, lines)
    if not wait:
        for each in sent:
            output_tx(output, each.tx)
        return 0
    done = []
    for each in sent:
        done.append(each.wait(timeout))
        output_tx(output, done[-1])
    return ended(done)


def typed_line(lane: str | None, typed: dict[str, Any]) -> "FileLine":
    """The one transaction that the command line says."""
    if lane is None:
        raise click.UsageError("say to which LANE, for example contract:QmToken")
    named = {name: value for name, value in typed.items() if value is not None}
    reader = LineReader()
    try:
        line = reader.read({"lane": lane, **named}, None)
    except msgspec.ValidationError as error:
        raise click.UsageError(str(error)) from None
    if reader.is_empty(line):
        raise click.UsageError("say what the contract is given: --data")
    if line.has_both():
        raise click.UsageError("say --payload alone: it is the whole request")
    return line


def read_payload(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise click.UsageError(f"--payload: {error}") from None


def read_file(file: IO[bytes], lane: str | None, typed: dict[str, Any]) -> list["FileLine"]:
    if typed["args"] is not None:
        raise click.UsageError("arguments of a file's calls stand in its lines, as `args`")
    return read_lines(file.read(), lane, typed["key"])


def read_lines(raw: bytes, lane: str | None, key: object) -> list["FileLine"]:
    """All of them, before any is sent: a typo in the last line must not leave half a file."""
    prefix = key or f"file-{sha256(raw).hexdigest()[:32]}"
    reader, lines = LineReader(), list[FileLine]()
    for number, text in enumerate(raw.splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = reader.read(msgspec.json.decode(text), lane)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise click.UsageError(f"line {number}: {error}") from None
        if line.lane is None:
            raise click.UsageError(f"line {number}: it has no lane, and no LANE is given")
        if line.key is None:
            line = msgspec.structs.replace(line, key=f"{prefix}:{number}")
        if reader.is_empty(line):
            raise click.UsageError(f"line {number}: it says neither `data` nor `to`")
        if line.has_both():
            raise click.UsageError(f"line {number}: its `payload` is the whole request")
        lines.append(line)
    return lines


class FileLine(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a file. The lane may be on the command line instead; `line_type` adds the
    options of the lane's kind."""

    data: str | None = None
    lane: str | None = None
    key: str | None = None
    valid_until: Moment | None = None
    payload: dict[str, Any] | None = None
    """The request as the API's `payload` has it, of any kind."""

    def has_both(self) -> bool:
        """Whether it has options beside a whole request."""
        return self.payload is not None and (self.data is not None or bool(self.options()))

    def options(self) -> dict[str, Any]:
        """The options of the lane's kind that it has."""
        named = [field.name for field in fields(self) if field.name not in OWN]
        return {name: one for name in named if (one := getattr(self, name)) is not None}


OWN = frozenset(FileLine.__struct_fields__)


def line_type(line: CommandLine) -> type[FileLine]:
    """The type of a line with the options of a kind, and with those of other kinds for an error
    that names them."""
    options: dict[str, Any] = {name: Any for other in command_lines() for name in other.words}
    for name, kind in line.words.items():
        options[name] = kind | None
    members = [(name, kind, None) for name, kind in options.items() if name not in OWN]
    made = msgspec.defstruct(
        "FileLine",
        members,
        bases=(FileLine,),
        frozen=True,
        forbid_unknown_fields=True,
        kw_only=True,
    )
    assert issubclass(made, FileLine)
    return made


class LineReader:
    """Reads lines. The type of a line is made once for each kind: a file may have a million."""

    def __init__(self) -> None:
        self._lines = {name: kind.command_line() for name, kind in kinds().items()}
        self._types: dict[str, type[FileLine]] = {}

    def read(self, found: Any, lane: str | None) -> FileLine:
        """A line of a file, in `lane` if it names none itself; ValidationError if it is wrong."""
        named = found.get("lane") if isinstance(found, dict) else None
        kind = lane_kind(LaneId(str(lane if named is None else named)))
        kind = kind if kind in self._lines else ""
        if kind not in self._types:
            self._types[kind] = line_type(self._lines.get(kind, CommandLine()))
        line = msgspec.convert(found, self._types[kind])
        return msgspec.structs.replace(line, lane=line.lane or lane)

    def is_empty(self, line: FileLine) -> bool:
        """Whether a line has no content that could be sent."""
        content = self._lines.get(lane_kind(LaneId(line.lane or "")), CommandLine()).content
        values = [line.payload, *(getattr(line, name) for name in content)]
        return all(one is None or one == [] for one in values)
