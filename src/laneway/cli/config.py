"""`laneway config`: what is set, by whom, and whether it can be used."""

from collections.abc import Sequence
from typing import Any

import click
from msgspec.structs import asdict

from laneway.cli.options import configured
from laneway.console.printing import say, say_json
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
        body: dict[str, object] = {
            "file": configuration.file,
            "settings": {setting.path: asdict(setting) for setting in settings},
        }
        for name, tables in configuration.tables().items():
            body[name] = [
                {**one.values, **{key: value for key, (value, _) in one.remarks.items()}}
                for one in tables
            ]
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
    for name, tables in configuration.tables().items():
        for one in tables:
            show_table(name, one.values, [line for _, line in one.remarks.values()])


def show_table(name: str, values: dict[str, Any], remarks: Sequence[str] = ()) -> None:
    """One table, and below it the accounts in it as tables of their own."""
    accounts = values.pop("accounts", ())
    say()
    say(f"[[{name}]]")
    for key, value in values.items():
        if value is not None:
            say(f"{key} = {toml_any(value)}")
    for remark in remarks:
        say(f"# {remark}")
    for account in accounts:
        show_table(f"{name}.accounts", account)


@config.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@configured
def check(configuration: Configuration, as_json: bool) -> None:
    """Exit 0 if the configuration can be used here; say what is wrong and exit 2 if not.

    It refuses what 'laneway up' refuses before it asks anyone: keys and passwords are read, signers
    are opened, extras are imported. No store is opened, and nobody is asked over the network.
    """
    from laneway.wiring.opening import check_here

    check_here(configuration)
    if as_json:
        say_json({"ok": True, "file": configuration.file})
        return
    say(f"{configuration.file or 'no laneway.toml, defaults'}: ok")


def toml_any(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(toml_any(one) for one in value)}]"
    if isinstance(value, dict):
        pairs = [f"{key} = {toml_any(one)}" for key, one in value.items() if one is not None]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, float):
        return repr(value)
    assert isinstance(value, str | int)
    return toml_value(value)


def line_of(setting: Setting, *, origin: bool) -> str:
    name = setting.path.rpartition(".")[2]
    # TOML has no value for "not set".
    text = f"# {name}" if setting.value is None else f"{name} = {toml_value(setting.value)}"
    if not origin:
        return text
    return f"{text:<40} # {setting.origin} {setting.source}".rstrip()
