"""Cosmos accounts on the command line."""

from base64 import b64encode
from collections.abc import MutableMapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import click

from laneway.console.remote import Output, reasoned, remote
from laneway.devnets.cosmos.limits import BLOCK_MS_DEV, PORT_DEFAULT
from laneway.devnets.evm.limits import BLOCK_MS_MAX
from laneway.kinds import command_line as shared
from laneway.kinds.extras import needs
from laneway.wire.cosmos import CosmosBlob, CosmosMessage

if TYPE_CHECKING:
    from laneway.console.remote import Client
    from laneway.wire.cosmos import CosmosAttempt, CosmosNode
    from laneway.wire.values import Lane, LaneHealth, Tx

option = partial(shared.option, whose="Cosmos accounts: ")
OPTIONS = (
    shared.TO,
    shared.GAS,
    option(
        "--blob blobs",
        "data for Celestia; - is standard input. May be repeated.",
        type=click.File("rb"),
        multiple=True,
    ),
    option(
        "--namespace namespaces",
        "of the blobs; one for all, or one for each.",
        "HEX",
        multiple=True,
    ),
    option(
        "--message messages",
        "any message, as protobuf writes it. May be repeated.",
        "URL:BASE64",
        multiple=True,
    ),
    option("--amount", "to --to, for example 5utia.", "COINS"),
    shared.option("--memo", "Cosmos accounts.", "TEXT"),
    option("--gas-price", "of one unit of gas, for example 0.004.", "PRICE"),
    option("--granter fee_granter", "whose allowance pays the fee.", "ADDRESS"),
    option("--fee", "in all.", type=click.IntRange(0)),
    option("--timeout-height", "the last block that may hold it.", type=click.IntRange(0)),
)


@click.command("set-sequence")
@click.argument("lane")
@click.argument("sequence", type=click.IntRange(0), required=False)
@reasoned
@remote
def set_sequence(
    client: "Client",
    output: Output,
    lane: str,
    sequence: int | None,
    reason: str,
    dry_run: bool,
) -> None:
    """Set where a Cosmos account's sequences go on; without SEQUENCE, at what the chain says.

    Never at one that is used, or that someone may still use: a dry run shows the numbers.
    """
    output.action(client.set_sequence(lane, sequence, reason=reason, dry_run=dry_run))


@click.command()
@shared.at_port(PORT_DEFAULT)
@shared.setting("--block-ms", click.IntRange(1, BLOCK_MS_MAX), BLOCK_MS_DEV, "Between two blocks.")
@click.option("--chain-id", default="laneway-dev", show_default=True)
@shared.accounts_as_json
def cosmos(port: int, block_ms: int, chain_id: str, as_json: bool) -> int:
    """A Cosmos chain with Celestia's blobs and mempool, until you end it.

    It checks signatures, fees and sequences, takes sends, fee grants and blobs, and keeps
    nothing. It answers CometBFT's JSON-RPC and the SDK's REST on one port.
    """
    with needs("cosmos"):
        from laneway.devnets.cosmos.devnet import run_devnet

    return run_devnet(port=port, block_ms=block_ms, chain_id=chain_id, as_json=as_json)


class CosmosCommandLine(shared.CommandLine):
    verbs = {"lane": (set_sequence,), "devnet": (cosmos,)}
    send_options = OPTIONS
    words = {
        "to": str,
        "gas": int,
        "blobs": list[CosmosBlob],
        "messages": list[CosmosMessage],
        "amount": str | int,
        "denom": str,
        "namespace": str,
        "memo": str,
        "fee": int,
        "gas_price": str,
        "fee_granter": str,
        "timeout_height": int,
    }
    content = ("data", "to", "blobs", "messages")

    def read_options(self, options: MutableMapping[str, Any]) -> None:
        options["blobs"] = read_blobs(options["blobs"], options.pop("namespaces"))
        options["messages"] = [read_message(text) for text in options["messages"]] or None

    def number(self, tx: "Tx") -> str:
        sequence = None if tx.cosmos is None else tx.cosmos.sequence
        return "" if sequence is None else f"sequence {sequence}"

    def tx_facts(self, tx: "Tx") -> shared.Facts:
        cosmos = tx.cosmos
        if cosmos is None:
            return super().tx_facts(tx)
        asked = cosmos.payload
        code = f"{cosmos.codespace} {cosmos.code}: {cosmos.log}" if cosmos.code else None
        used = None
        if cosmos.gas_used is not None:
            used = f"{cosmos.gas_used} of {cosmos.gas_wanted}"
        blobs = [] if asked is None else asked.blobs
        messages = [] if asked is None else asked.messages
        return [
            *shared.where(tx),
            ("sequence", cosmos.sequence),
            ("hash", tx.hash),
            ("height", cosmos.height),
            ("code", code),
            ("gas", used),
            ("signers", ", ".join(cosmos.signers)),
            ("until block", cosmos.timeout_height),
            *shared.whence(tx),
            ("to", asked and asked.to),
            ("amount", asked and asked.to and f"{asked.amount}{asked.denom}"),
            *(("message", f"{one.type_url}, {one.size} bytes") for one in messages),
            *(("blob", f"{one.namespace}, {one.size} bytes") for one in blobs),
            ("memo", asked and asked.memo),
            *((f"attempt {one.number}", attempt_line(one)) for one in cosmos.attempts),
            ("bytes", None if cosmos.raw is None else b64encode(cosmos.raw).decode()),
        ]

    def lane_facts(self, lane: "Lane | LaneHealth") -> shared.Facts:
        cosmos = lane.cosmos
        if cosmos is None:
            return []
        done = cosmos.last_confirmation_at
        place = f"{cosmos.address} on {cosmos.chain} ({cosmos.chain_id})"
        missing = "; it does not exist there yet" if cosmos.account_missing else ""
        return [
            ("account", f"{cosmos.account} {place}{missing}"),
            ("worker of", cosmos.worker_of),
            ("next sequence", cosmos.sequence_next),
            ("committed", cosmos.committed),
            ("height", cosmos.height),
            ("in flight", f"{cosmos.bound} of {cosmos.window}"),
            ("pending", cosmos.pending),
            ("fillers", cosmos.fillers or None),
            ("indeterminate", cosmos.watched or None),
            ("bytes held", f"{cosmos.held_bytes} of {cosmos.held_bytes_max}"),
            ("confirmed", done and done.isoformat()),
            *((f"node {node.name}", node_line(node)) for node in cosmos.nodes),
        ]


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


def attempt_line(one: "CosmosAttempt") -> str:
    fee = "" if one.fee is None else f"fee {one.fee} for {one.gas} gas"
    ends = "" if one.live else "can land no more"
    until = f"until block {one.timeout_height}"
    return shared.joined("  ", one.hash, fee, until, ends, one.reason)


def node_line(node: "CosmosNode") -> str:
    place = f"next {node.next}, height {node.height}"
    if not node.recovering:
        return place
    wants = "" if node.ours is None else f"; expects {node.expected}, ours {node.ours}"
    return f"{place}; recovering: {node.reason}{wants}; {node.then}"
