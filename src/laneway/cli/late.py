"""Commands whose work lies in a package that may be left out of a build."""

from importlib import import_module
from typing import Any

from laneway.core.errors import LanewayError


class NotInstalled(LanewayError):
    code = "not_installed"

    def __init__(self, command: str, missing: str) -> None:
        self.command = command
        self.missing = missing
        super().__init__(
            f"'laneway {command}' needs {missing}, which is not installed here; "
            "install laneway again with all its parts: pip install -e '.[dev]'"
        )


def find(command: str, module: str, name: str) -> Any:
    """The function behind a command, imported now."""
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise NotInstalled(command, error.name or module) from error
    except AttributeError as error:
        raise NotInstalled(command, f"{module}:{name}") from error
