"""The SQL that lies beside a store's modules: its statements and its migrations."""

from functools import cache
from importlib.resources import files


@cache
def statements_of(package: str) -> dict[str, str]:
    """A store's statements by name."""
    text = files(package).joinpath("statements.sql").read_text()
    found: dict[str, str] = {}
    for part in text.split("-- name: ")[1:]:
        name, _, statement = part.partition("\n")
        assert name.strip() not in found
        found[name.strip()] = statement.strip()
    return found


@cache
def migrations_of(package: str) -> tuple[tuple[int, str], ...]:
    """The scripts that make the newest shape, in order, each under the version it leads to."""
    folder = files(package).joinpath("migrations")
    scripts = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return tuple(sorted((int(entry.name[:4]), entry.read_text()) for entry in scripts))
