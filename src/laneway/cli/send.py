"""`laneway send`: one transaction, or a file of them; safe to run twice."""

from datetime import datetime
from hashlib import sha256
from typing import IO, TYPE_CHECKING

import click
import msgspec
from msgspec import Struct

from laneway.cli.remote import Output, ended, remote
from laneway.wire.values import Moment

if TYPE_CHECKING:
    from laneway.client.blocking import Client, SentTx


class Line(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a file. The lane may stand on the command line instead."""

    data: str
    lane: str | None = None
    executor: str = ""
    quorum_type: int = 2
    comment: str = ""
    key: str | None = None
    priority: int = 0
    valid_until: Moment | None = None


@click.command()
@click.argument("lane", required=False)
@click.option("--data", help="What the contract is given.")
@click.option("--executor", default="", help="Who executes, for example a DID.")
@click.option("--quorum-type", type=click.IntRange(0), default=2, show_default=True)
@click.option("--comment", default="")
@click.option("--key", help="Idempotency key: with it the command is safe to run twice.")
@click.option("--priority", type=click.IntRange(0, 3), default=0, show_default=True)
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
    file: IO[bytes] | None,
    wait: bool,
    timeout: float | None,
    valid_until: str | None,
    data: str | None,
    **others: object,
) -> int:
    """Queue a transaction; returns when it is durable.

    LANE is KIND:KEY, for example contract:QmToken. A file has one object a line with the options'
    names: {"lane": …, "data": …, "executor": …, "key": …}. Its lines are sent in order. A line
    without a key gets one from --key or from the file's contents, and its number: after any crash
    the same command goes on where it stopped and doubles nothing.
    """
    if (data is None) == (file is None):
        raise click.UsageError("say what to send: --data or --file")
    if file is not None:
        lines = read_lines(file.read(), lane, others["key"])
    else:
        if lane is None:
            raise click.UsageError("say to which LANE, for example contract:QmToken")
        until = None if valid_until is None else moment(valid_until)
        given = {"lane": lane, "data": data, "valid_until": until, **others}
        lines = [msgspec.convert(given, Line)]
    sent: list[SentTx] = []
    for line in lines:
        sent.append(post(client, line))
        if not wait:
            output.tx(sent[-1].tx)
    if not wait:
        return 0
    done = []
    for each in sent:
        done.append(each.wait(timeout))
        output.tx(done[-1])
    return ended(done)


def post(client: "Client", line: Line) -> "SentTx":
    assert line.lane is not None
    return client.send(
        line.lane,
        line.data,
        executor=line.executor,
        quorum_type=line.quorum_type,
        comment=line.comment,
        key=line.key,
        priority=line.priority,
        valid_until=line.valid_until,
    )


def read_lines(raw: bytes, lane: str | None, key: object) -> list[Line]:
    """All of them, before any is sent: a typo in the last line must not leave half a file."""
    prefix = key or f"file-{sha256(raw).hexdigest()[:32]}"
    lines: list[Line] = []
    for number, text in enumerate(raw.splitlines(), 1):
        if not text.strip():
            continue
        try:
            line = msgspec.json.decode(text, type=Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise click.UsageError(f"line {number}: {error}") from None
        if line.lane is None and lane is None:
            raise click.UsageError(f"line {number}: it has no lane, and no LANE is given")
        if line.key is None:
            line = msgspec.structs.replace(line, key=f"{prefix}:{number}")
        lines.append(msgspec.structs.replace(line, lane=line.lane or lane))
    return lines


def moment(text: str) -> datetime:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo is None:
        raise click.UsageError("--valid-until: a time like 2026-11-15T12:00:00Z")
    return parsed
