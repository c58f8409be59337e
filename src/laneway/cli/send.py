"""`laneway send`: one transaction, or a file of them; safe to run twice."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any

import click
import msgspec

from laneway.cli.lines import Line
from laneway.cli.options import cosmos_options, evm_options, moment
from laneway.cli.remote import Output, ended, remote

if TYPE_CHECKING:
    from laneway.client.blocking import Client


@click.command()
@click.argument("lane", required=False)
@click.option("--data", help="What the contract is given; of an account the call, 0x….")
@click.option("--executor", help="Contracts: who executes, for example a DID.")
@click.option("--quorum-type", type=click.IntRange(0), help="Contracts; 2 if it is left out.")
@click.option("--comment", help="Contracts.")
@click.option("--priority", type=click.IntRange(0, 3), help="Contracts: 0 is the most urgent.")
@evm_options
@cosmos_options
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
    file: IO[bytes] | None,
    wait: bool,
    timeout: float | None,
    valid_until: str | None,
    data: str | None,
    **others: Any,
) -> int:
    """Queue a transaction; returns when it is durable.

    LANE is KIND:KEY, for example contract:QmToken, evm:CHAIN:ACCOUNT or cosmos:CHAIN:ACCOUNT. A
    file has one object a line with the options' names: {"lane": …, "data": …, "executor": …,
    "key": …} or {"lane": …, "to": …, "value": "1 gwei", "max_fee_per_gas": …} or {"lane": …,
    "blobs": [{"namespace": …, "data": BASE64}]}. The lines of one lane are sent in order, each when
    the one before it is durable; those of other lanes at the same time. A line without a key gets
    one from --key or from the file's contents, and its number: after any crash the same command
    goes on where it stopped and doubles nothing.
    """
    others["blobs"] = read_blobs(others["blobs"], others.pop("namespaces"))
    others["messages"] = [read_message(text) for text in others["messages"]] or None
    said = any(one is not None for one in (data, *(others[name] for name in CONTENT)))
    if said == (file is not None):
        raise click.UsageError("say what to send: --data, --to, --blob, --message or --file")
    if file is not None:
        lines = read_lines(file.read(), lane, others["key"])
    else:
        if lane is None:
            raise click.UsageError("say to which LANE, for example contract:QmToken")
        until = None if valid_until is None else moment("--valid-until", valid_until)
        given = {"lane": lane, "data": data, "valid_until": until, **others}
        try:
            lines = [msgspec.convert(given, Line)]
        except msgspec.ValidationError as error:
            raise click.UsageError(str(error)) from None
        if lines[0].is_empty():
            raise click.UsageError("say what the contract is given: --data")
    from laneway.cli.pipeline import post_all

    sent = post_all(client, lines)
    if not wait:
        for each in sent:
            output.tx(each.tx)
        return 0
    done = []
    for each in sent:
        done.append(each.wait(timeout))
        output.tx(done[-1])
    return ended(done)


CONTENT = ("to", "blobs", "messages")


def read_blobs(files: Sequence[IO[bytes]], namespaces: tuple[str, ...]) -> list[Any] | None:
    """As a line of a file has them."""
    if not files:
        if namespaces:
            raise click.UsageError("--namespace is of a --blob")
        return None
    if len(namespaces) not in (1, len(files)):
        raise click.UsageError("say the --namespace of all blobs, or of each")
    named = namespaces if len(namespaces) == len(files) else namespaces * len(files)
    return [
        {"namespace": namespace, "data": b64encode(file.read()).decode()}
        for file, namespace in zip(files, named, strict=True)
    ]


def read_message(text: str) -> dict[str, str]:
    url, colon, value = text.partition(":")
    if not (colon and url.startswith("/")):
        raise click.UsageError(f"--message {text}: say URL:BASE64, for example /pkg.MsgKind:CgNh")
    return {"type_url": url, "value": value}


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
        line = msgspec.structs.replace(line, lane=line.lane or lane)
        if line.is_empty():
            raise click.UsageError(f"line {number}: it says neither `data` nor `to`")
        lines.append(line)
    return lines
