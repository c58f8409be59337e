"""Contracts on the command line."""

from typing import TYPE_CHECKING, get_args

import click

from laneway.console.remote import Output, reasoned, remote
from laneway.devnets.contract.limits import PORT_DEFAULT, ROUND_MS, ROUND_MS_DEV
from laneway.kinds import command_line as shared
from laneway.wire.values import SettleWord

if TYPE_CHECKING:
    from laneway.console.remote import Client
    from laneway.wire.values import Tx


@click.command()
@click.argument("intent", metavar="ID")
@click.argument("word", type=click.Choice(get_args(SettleWord)))
@reasoned
@remote
def settle(
    client: "Client", output: Output, *, intent: str, word: SettleWord, reason: str, dry_run: bool
) -> None:
    """Say what became of a contract's execution whose lane is halted.

    Look at the chain first: executed of one that is not there loses it, not_executed of one that
    is there does it twice. skip gives up one of which every try was refused.
    """
    output.action(client.settle(intent, word, reason=reason, dry_run=dry_run))


@click.command()
@shared.at_port(PORT_DEFAULT)
@shared.setting(
    "--round-ms",
    click.IntRange(1, ROUND_MS),
    ROUND_MS_DEV,
    "One consensus round, which makes a block.",
)
@click.option("--json", "as_json", is_flag=True, help="Tell where it is, as JSON.")
def contract(port: int, round_ms: int, as_json: bool) -> int:
    """A contract node that many processes can share, until you end it.

    It executes nothing and makes a block for every execution; nothing is kept. It answers
    the node's own REST calls, so host.kind = "rest" reaches it.
    """
    from laneway.devnets.contract.node.socket import run_devnet

    return run_devnet(port=port, round_ms=round_ms, as_json=as_json)


class ContractCommandLine(shared.CommandLine):
    verbs = {"tx": (settle,), "devnet": (contract,)}
    send_options = (
        shared.option("--executor", "Contracts: who executes, for example a DID."),
        shared.option("--quorum-type", "Contracts; 2 if it is left out.", type=click.IntRange(0)),
        shared.option("--comment", "Contracts."),
        shared.option("--priority", "Contracts: 0 is the most urgent.", type=click.IntRange(0, 3)),
    )
    words = {"executor": str, "quorum_type": int, "comment": str, "priority": int}

    def tx_facts(self, tx: "Tx") -> shared.Facts:
        payload = tx.payload
        return [
            *super().tx_facts(tx),
            ("executor", payload and payload.executor),
            ("data", payload and payload.data),
            ("comment", payload and payload.comment),
        ]
