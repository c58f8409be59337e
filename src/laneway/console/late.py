"""Late imports of packages that may be left out of a build."""

from importlib import import_module
from typing import Any

from laneway.core.errors import LanewayError

ALL_PARTS = "install laneway again with all its parts: pip install -e '.[dev]'"


class NotInstalled(LanewayError):
    code = "not_installed"

    def __init__(self, command: str, missing: str, advice: str) -> None:
        self.command = command
        self.missing = missing
        super().__init__(
            f"'laneway {command}' needs {missing}, which is not installed here; {advice}"
        )


def find(command: str, module: str, name: str, advice: str = ALL_PARTS) -> Any:
    """The function that does the work of a command, imported now."""
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise NotInstalled(command, error.name or module, advice) from error
    except AttributeError as error:
        raise NotInstalled(command, f"{module}:{name}", advice) from error
