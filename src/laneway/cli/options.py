"""Options that several commands share: where the configuration comes from."""

import os
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import TypeVar

import click

from laneway.cli.printing import say
from laneway.wire.urls import shown_url
from laneway.wiring.config import load

T = TypeVar("T")


def configured(command: Callable[..., T]) -> Callable[..., T]:
    """Give a command the configuration as its first argument."""

    @click.option("--config", "file", metavar="FILE", help="Default: laneway.toml, if it is here.")
    @click.option("--preset", metavar="NAME", help="Defaults of a seed, for example seed-004.")
    @click.option("--db", metavar="PATH", help="The database; the same as --set store.path=PATH.")
    @click.option(
        "--set",
        "given",
        metavar="KEY=VALUE",
        multiple=True,
        help="One key of the configuration, for example contract.fast_size=8. May be repeated.",
    )
    @wraps(command)
    def run(
        file: str | None,
        preset: str | None,
        db: str | None,
        given: tuple[str, ...],
        **others: object,
    ) -> T:
        flags = dict(split(text) for text in given)
        if preset is not None:
            flags["preset"] = preset
        if db is not None:
            flags["store.path"] = db
        if isinstance(listen := others.pop("listen", None), str):
            flags["server.listen"] = listen
        configuration = load(file, os.environ, flags)
        for warning in configuration.warnings:
            say(f"laneway: warning: {warning}", err=True)
        return command(configuration, **others)

    return run


EVM_OPTIONS = (
    ("--to", "ADDRESS", "Accounts: to whom; of EVM accounts --data alone creates a contract."),
    ("--value", "WEI", "EVM accounts: for example 1gwei or 0.5ether."),
    ("--max-fee", "WEI", "EVM accounts: of one unit of gas, never more."),
    ("--tip", "WEI", "EVM accounts: of one unit of gas, to the block's builder."),
    ("--max-cost", "WEI", "EVM accounts: of all its gas, never more."),
)
EVM_NAMES = {"max_fee": "max_fee_per_gas", "tip": "max_priority_fee_per_gas"}


def evm_options(command: Callable[..., T]) -> Callable[..., T]:
    """What an EVM account's transaction may say, under the names that the API has."""
    command = click.option(
        "--type", "type", type=click.IntRange(0, 4), help="EVM accounts: of the transaction."
    )(command)
    command = click.option(
        "--gas", type=click.IntRange(1), help="Accounts: estimated if it is left out."
    )(command)
    for option, metavar, words in reversed(EVM_OPTIONS):
        name = option.removeprefix("--").replace("-", "_")
        named = (option, EVM_NAMES.get(name, name))
        command = click.option(*named, metavar=metavar, help=words)(command)
    return command


COSMOS_OPTIONS = (
    ("--amount", "COINS", "Cosmos accounts: to --to, for example 5utia."),
    ("--memo", "TEXT", "Cosmos accounts."),
    ("--gas-price", "PRICE", "Cosmos accounts: of one unit of gas, for example 0.004."),
    ("--granter", "ADDRESS", "Cosmos accounts: whose allowance pays the fee."),
)
COSMOS_NAMES = {"granter": "fee_granter"}


def cosmos_options(command: Callable[..., T]) -> Callable[..., T]:
    """What a Cosmos account's transaction may say beside that."""
    for name in ("--timeout-height", "--fee"):
        words = "the last block that may hold it." if name == "--timeout-height" else "in all."
        option = click.option(name, type=click.IntRange(0), help=f"Cosmos accounts: {words}")
        command = option(command)
    for option_name, metavar, words in reversed(COSMOS_OPTIONS):
        name = option_name.removeprefix("--").replace("-", "_")
        named = (option_name, COSMOS_NAMES.get(name, name))
        command = click.option(*named, metavar=metavar, help=words)(command)
    command = click.option(
        "--message",
        "messages",
        metavar="URL:BASE64",
        multiple=True,
        help="Cosmos accounts: any message, as protobuf writes it. May be repeated.",
    )(command)
    command = click.option(
        "--namespace",
        "namespaces",
        metavar="HEX",
        multiple=True,
        help="Cosmos accounts: of the blobs; one for all, or one for each.",
    )(command)
    return click.option(
        "--blob",
        "blobs",
        type=click.File("rb"),
        multiple=True,
        help="Cosmos accounts: data for Celestia; - is standard input. May be repeated.",
    )(command)


def split(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(
            f"--set {shown_url(text)}: say KEY=VALUE, for example contract.fast_size=8"
        )
    return path.strip(), value


def moment(option: str, text: str) -> datetime:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo is None:
        raise click.UsageError(f"{option}: a time like 2026-11-15T12:00:00Z")
    return parsed
