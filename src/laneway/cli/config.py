"""`laneway config`: what is set, by whom, and whether it can be used."""

import click
from msgspec.structs import asdict

from laneway.cli.options import configured
from laneway.cli.printing import say, say_json
from laneway.wiring.config import Configuration, Setting, toml_value


@click.group()
def config() -> None:
    """Show or check the configuration.

    Later wins: defaults, a preset, laneway.toml, LANEWAY_SECTION__KEY in the environment, flags.
    """


@config.command()
@click.option("--origin", is_flag=True, help="Say where each value came from.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, origins included.")
@configured
def show(configuration: Configuration, origin: bool, as_json: bool) -> None:
    """Print every key as it is in force, as TOML. Secrets are left out."""
    settings = list(configuration.settings())
    if as_json:
        body = {
            "file": configuration.file,
            "settings": {setting.path: asdict(setting) for setting in settings},
            "webhooks": configuration.webhooks(),
            "evm": [
                {**chain, "fee_ceiling": ceiling}
                for chain, ceiling in zip(
                    configuration.chains(), configuration.fee_ceilings(), strict=True
                )
            ],
            "cosmos": configuration.cosmos_chains(),
            "rollup": configuration.rollups(),
        }
        say_json(body, indent=2)
        return
    section = ""
    for setting in settings:
        head, _, _ = setting.path.rpartition(".")
        if head != section:
            section = head
            say()
            say(f"[{section}]")
        say(line_of(setting, origin=origin))
    for webhook in configuration.webhooks():
        say()
        say("[[webhooks]]")
        for name, value in webhook.items():
            say(f"{name} = {toml_any(value)}")
    tables = {"evm": configuration.chains(), "cosmos": configuration.cosmos_chains()}
    ceilings = {"evm": [line_of_ceiling(one) for one in configuration.fee_ceilings()]}
    for kind, chains in tables.items():
        for place, chain in enumerate(chains):
            accounts = chain.pop("accounts")
            show_table(kind, chain)
            for line in ceilings.get(kind, [])[place : place + 1]:
                say(line)
            for account in accounts:
                show_table(f"{kind}.accounts", account)
    for rollup in configuration.rollups():
        show_table("rollup", rollup)


def show_table(name: str, table: dict[str, object]) -> None:
    say()
    say(f"[[{name}]]")
    for key, value in table.items():
        if value is not None:
            say(f"{key} = {toml_any(value)}")


def line_of_ceiling(ceiling: dict[str, object]) -> str:
    """What bounds the fee of a chain's accounts, as a remark: a default is no line of a file."""
    rule = f"{ceiling['fee_wei_max']} a unit of gas ({ceiling['origin']})"
    if ceiling["base_fee_times"] is not None:
        rule += f", and {ceiling['base_fee_times']} times the base fee"
    return f"# fee ceiling: {rule}"


@config.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@configured
def check(configuration: Configuration, as_json: bool) -> None:
    """Exit 0 if the configuration can be used here; say what is wrong and exit 2 if not.

    It refuses what 'laneway up' refuses before it asks anyone: keys and passwords are read, signers
    are opened, extras are imported. No store is opened, and nobody is asked over the network.
    """
    from laneway.wiring.checking import check_here

    check_here(configuration)
    if as_json:
        say_json({"ok": True, "file": configuration.file})
        return
    say(f"{configuration.file or 'no laneway.toml, defaults'}: ok")


def toml_any(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(toml_any(one) for one in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml_any(one)}' for key, one in value.items())} }}"
    if isinstance(value, float):
        return repr(value)
    assert isinstance(value, str | int)
    return toml_value(value)


def line_of(setting: Setting, *, origin: bool) -> str:
    name = setting.path.rpartition(".")[2]
    # TOML has no word for "not set".
    text = f"# {name}" if setting.value is None else f"{name} = {toml_value(setting.value)}"
    if not origin:
        return text
    return f"{text:<40} # {setting.origin} {setting.source}".rstrip()
