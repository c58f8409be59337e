"""The error for a machine that lacks a package which a precompiled contract needs."""

from collections.abc import Iterator
from contextlib import contextmanager

from laneway.core.errors import LanewayError


class PrecompileUnavailable(LanewayError):
    """A fault of the installation, and never the result of a call."""

    code = "precompile_unavailable"

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(
            f"a precompiled contract needs the package {package}, which is not installed here; "
            "run: pip install 'laneway[precompiles]'"
        )


@contextmanager
def needed(package: str) -> Iterator[None]:
    """Imports of a package that only the extra `precompiles` installs."""
    try:
        yield
    except ImportError as error:
        raise PrecompileUnavailable(package) from error
