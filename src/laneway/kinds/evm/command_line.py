"""EVM accounts on the command line."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from msgspec import json

from laneway.console.remote import Output, reasoned, remote
from laneway.devnets.evm.limits import (
    ACCOUNTS_COUNT_MAX,
    BLOCK_GAS_MAX,
    BLOCK_GAS_MIN,
    BLOCK_MS_MAX,
    CHAIN_ID_MAX,
    PORT_DEFAULT,
)
from laneway.kinds import command_line as shared
from laneway.kinds.evm.section import DEV_BLOCK_MS, with_devnet
from laneway.kinds.extras import needs
from laneway.kinds.limits import ARGUMENT_CHARS_MAX
from laneway.wire.evm import EvmAccess, EvmAuthorization, EvmBlobs

if TYPE_CHECKING:
    from laneway.console.remote import Client
    from laneway.wire.evm import EvmAttempt, EvmInWords, EvmLogShown, EvmPayload, EvmTx
    from laneway.wire.values import Lane, LaneHealth, Tx

option = partial(shared.option, whose="EVM accounts: ")
OPTIONS = (
    shared.TO,
    option(
        "--call",
        "the function, transfer(address,uint256) or, with --abi, its name; its ARGS follow.",
        "SIGNATURE",
    ),
    option("--abi", "the contract's ABI, an artifact or signatures.", "FILE"),
    option(
        "--deploy",
        "the code of a new contract, 0x… or a file with it; its constructor's ARGS follow.",
        "FILE_OR_HEX",
    ),
    option("--value", "for example 1gwei or 0.5ether.", "WEI"),
    option("--max-fee max_fee_per_gas", "of one unit of gas, never more.", "WEI"),
    option("--tip max_priority_fee_per_gas", "of one unit of gas, to the block's builder.", "WEI"),
    option("--max-cost", "of all its gas, never more.", "WEI"),
    shared.GAS,
    option("--type", "of the transaction.", type=click.IntRange(0, 4)),
)


@click.command()
@click.argument("intent", metavar="ID")
@reasoned
@remote
def bump(client: "Client", output: Output, intent: str, reason: str, dry_run: bool) -> None:
    """Offer more for an EVM account's transaction, at the same nonce."""
    output.action(client.bump(intent, reason=reason, dry_run=dry_run))


@click.command(
    params=[
        click.Argument(["intent"], metavar="ID"),
        click.Argument(["args"], nargs=-1),
        shared.option("--data", "Of the new content.", "HEX"),
        *OPTIONS,
    ]
)
@reasoned
@remote
def replace(
    client: "Client",
    output: Output,
    *,
    intent: str,
    args: tuple[str, ...],
    data: str | None,
    reason: str,
    dry_run: bool,
    **options: Any,
) -> None:
    """Put other content in the place of an EVM account's transaction, at the same nonce.

    ARGS are those of --call, or of the constructor of --deploy.

    What was sent before may be mined instead: whichever is decides. The new content is all that is
    written here; nothing of the old one is kept.
    """
    if all(one is None for one in (data, options["to"], options["deploy"])):
        raise click.UsageError("say the whole new content: --to, --value, --data or --call")
    options["args"] = list(args) or None
    output.action(client.replace(intent, data, reason=reason, dry_run=dry_run, **options))


@click.command("reset-nonce")
@click.argument("lane")
@reasoned
@remote
def reset_nonce(client: "Client", output: Output, lane: str, reason: str, dry_run: bool) -> None:
    """Set an EVM account's next nonce back to what the chain says, never below a bound one."""
    output.action(client.reset_nonce(lane, reason=reason, dry_run=dry_run))


@click.command()
@shared.at_port(PORT_DEFAULT)
@shared.setting(
    "--block-ms",
    click.IntRange(0, BLOCK_MS_MAX),
    0,
    "Between two blocks; 0 makes one for every send.",
)
@click.option(
    "--block-time",
    type=click.FloatRange(0.001, BLOCK_MS_MAX / 1000),
    metavar="SECONDS",
    help="The same in seconds, as anvil has it.",
)
@click.option("--no-mining", is_flag=True, help="Make blocks only on command (evm_mine).")
@shared.setting("--chain-id", click.IntRange(1, CHAIN_ID_MAX), 31_337, "Of EIP-155.")
@shared.setting("--accounts", click.IntRange(1, ACCOUNTS_COUNT_MAX), 10, "How many have money.")
@shared.setting("--balance", click.IntRange(0, 10**15), 10_000, "Of each of them, in ether.")
@shared.setting("--gas-limit", click.IntRange(BLOCK_GAS_MIN, 2**53), BLOCK_GAS_MAX, "Of a block.")
@shared.setting(
    "--hardfork", click.Choice(["cancun", "prague", "osaka"]), "prague", "Whose rules hold."
)
@shared.accounts_as_json
def evm(
    *,
    block_time: float | None,
    no_mining: bool,
    block_ms: int,
    balance: int,
    hardfork: str,
    as_json: bool,
    port: int,
    chain_id: int,
    accounts: int,
    gas_limit: int,
) -> int:
    """An EVM chain with the accounts everybody knows, until you end it.

    Contracts run, and nothing is kept. It answers JSON-RPC over HTTP and WebSocket, and is moved
    by anvil's calls (evm_mine, evm_snapshot, anvil_setBalance …).
    """
    with needs("evm"):
        from laneway.devnets.evm.devnet import EvmDevnet, run_devnet
        from laneway.evm.fork import Fork

    if block_time is not None:
        block_ms = round(block_time * 1000)
    devnet = EvmDevnet(
        block_ms=None if no_mining else block_ms,
        port=port,
        chain_id=chain_id,
        accounts=accounts,
        balance_wei=balance * 10**18,
        gas_limit=gas_limit,
        fork=Fork[hardfork.upper()],
    )
    return run_devnet(devnet, as_json=as_json)


class EvmCommandLine(shared.CommandLine):
    verbs = {"tx": (bump, replace), "lane": (reset_nonce,), "devnet": (evm,)}
    send_options = OPTIONS
    up_options = (
        option("--dev", "on a chain inside this process, to try them out.", is_flag=True),
        option(
            "--block-ms",
            f"with --dev: between two blocks, if not {DEV_BLOCK_MS}.",
            type=click.IntRange(1, BLOCK_MS_MAX),
        ),
    )
    words = {
        "to": str,
        "call": str,
        "args": list[Any],
        "abi": str | list[Any],
        "deploy": str,
        "value": str | int,
        "gas": int,
        "type": int,
        "max_fee_per_gas": str | int,
        "max_priority_fee_per_gas": str | int,
        "max_cost": str | int,
        "access_list": list[EvmAccess],
        "authorization_list": list[EvmAuthorization],
        "blobs": EvmBlobs,
    }
    content = ("data", "to", "call", "deploy")

    def prepare(self, configuration: Any, options: Mapping[str, Any]) -> Any:
        if not options["dev"]:
            if options["block_ms"] is not None:
                raise click.UsageError("--block-ms is for the chain of --dev")
            return configuration
        with needs("evm"):
            import coincurve  # noqa: F401
        return with_devnet(configuration, options["block_ms"])

    def number(self, tx: "Tx") -> str:
        return "" if tx.nonce is None else f"nonce {tx.nonce}"

    def tx_facts(self, tx: "Tx") -> shared.Facts:
        evm = tx.evm
        if evm is None:
            return super().tx_facts(tx)
        paid = None if evm.gas_used is None else f"{evm.gas_used} gas at {evm.gas_price} wei"
        return [
            *shared.where(tx),
            ("nonce", tx.nonce),
            ("hash", tx.hash),
            ("block", tx.block),
            ("confirmations", evm.confirmations),
            ("paid", paid),
            *shared.whence(tx),
            *contents(evm),
            *in_words(evm),
            ("replaced", f"{evm.replaced} times" if evm.replaced else None),
            *((f"attempt {one.number}", attempt_line(one)) for one in evm.attempts),
        ]

    def lane_facts(self, lane: "Lane | LaneHealth") -> shared.Facts:
        evm = lane.evm
        if evm is None:
            return []
        balance = None if evm.balance is None else f"{evm.balance} wei"
        moved, done = evm.last_nonce_movement_at, evm.last_confirmation_at
        return [
            ("account", f"{evm.account} {evm.address} on {evm.chain} ({evm.chain_id})"),
            ("balance", balance),
            ("threshold", None if evm.balance_threshold == "0" else f"{evm.balance_threshold} wei"),
            ("out of funds", "yes" if evm.out_of_funds else None),
            ("needed", None if evm.balance_needed is None else f"{evm.balance_needed} wei"),
            ("next nonce", evm.nonce_next),
            ("chain's count", evm.latest),
            ("in flight", f"{evm.inflight} of {evm.window}"),
            ("pending", evm.pending),
            ("borrowed", evm.borrowed),
            ("submitted", evm.submitted),
            ("recycled", f"{evm.recycled} of {evm.max_recycled_nonces}"),
            ("moved", moved and moved.isoformat()),
            ("confirmed", done and done.isoformat()),
            ("resets", ", ".join(at.isoformat() for at in evm.nonce_resets)),
        ]


def contents(evm: "EvmTx") -> shared.Facts:
    """What was mined, and what was asked where that is something else."""
    content = evm.mined or evm.replacement or evm.payload
    if content is None:
        return []
    facts: shared.Facts = [
        ("to", content.to),
        ("value", f"{content.value} wei"),
        ("data", content.data),
    ]
    other: shared.Facts = [
        (name, content_line(asked))
        for name, asked in (("asked", evm.payload), ("asked later", evm.replacement))
        if asked is not None and content_line(asked) != content_line(content)
    ]
    if other and evm.mined is not None:
        other.insert(0, ("mined", content_line(evm.mined)))
    return facts + other


def in_words(evm: "EvmTx") -> shared.Facts:
    """What its ABI and its chain say of it."""
    revert = evm.revert
    return [
        ("call", evm.call and words_line(evm.call)),
        ("contract", evm.contract),
        ("reverted", revert and f"{revert.reason} ({revert.source})"),
        *((f"log {place}", log_line(log)) for place, log in enumerate(evm.logs or ())),
        ("unexplained", evm.unexplained),
    ]


def words_line(one: "EvmInWords") -> str:
    """A call, an event or an error, on a line."""
    args = [
        shared.joined("=", arg.name, f"hash {arg.value}" if arg.hashed else value_text(arg.value))
        for arg in one.args
    ]
    return f"{one.signature.partition('(')[0]}({', '.join(args)})"


def value_text(value: object) -> str:
    """A value as an argument of this command is written; what is long is cut."""
    text = value if isinstance(value, str) else json.encode(value).decode()
    return text if len(text) <= ARGUMENT_CHARS_MAX else f"{text[:ARGUMENT_CHARS_MAX]}…"


def log_line(log: "EvmLogShown") -> str:
    if log.event is not None:
        return f"{words_line(log.event)} of {log.address}"
    return f"{log.address}, topics {' '.join(log.topics)}, data {value_text(log.data)}"


def content_line(content: "EvmPayload") -> str:
    to = "a new contract" if content.to is None else content.to
    return f"{content.value} wei to {to}, data {content.data}"


def attempt_line(one: "EvmAttempt") -> str:
    nodes = ", ".join(f"{node} {answer}" for node, answer in one.nodes.items())
    fees = f"{one.max_fee_per_gas}/{one.max_priority_fee_per_gas} wei"
    purpose = "" if one.purpose == "intent" else one.purpose
    mined = "MINED" if one.mined else ""
    return shared.joined("  ", one.hash, purpose, fees, nodes, one.reason, mined)
