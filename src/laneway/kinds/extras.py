"""The extras of the package: which modules each of them brings, and what to type without them."""

from collections.abc import Iterator
from contextlib import contextmanager

from laneway.core.errors import LanewayError
from laneway.kinds.config import ConfigError

EXTRAS = {
    "abi": ("eth_abi", "sha3"),
    "evm": ("coincurve", "cryptography", "sha3"),
    "cosmos": ("coincurve", "cryptography", "sha3"),
    "rollup": ("nacl", "numpy", "sha3"),
    "postgres": ("psycopg",),
    "precompiles": (
        *("blake2b", "coincurve", "cryptography", "gmpy2", "py_arkworks_bls12381", "sha3"),
    ),
    "redis": ("hiredis", "redis", "sha3"),
    "ubt": ("blake3",),
}
"""The importable names of what pyproject.toml lists for each extra; a test compares them."""


class ExtraMissing(LanewayError):
    """A command or a setting needs a package that only an extra installs."""

    code = "extra_missing"

    def __init__(self, module: str, extra: str | None) -> None:
        self.module = module
        self.extra = extra
        super().__init__(f"the package {module} is not installed here; run: {install(extra)}")


def install(extra: str | None) -> str:
    """The command that installs an extra; None is the package itself."""
    return "pip install laneway" if extra is None else f"pip install 'laneway[{extra}]'"


def missing(error: ModuleNotFoundError, extra: str | None = None) -> ExtraMissing:
    """The extra to install: the one that was asked for, unless only others have the module."""
    module = (error.name or str(error)).partition(".")[0]
    held = [name for name, modules in EXTRAS.items() if module in modules]
    return ExtraMissing(module, extra if extra in held or not held else held[0])


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Imports that need `extra`: several extras have the same packages, and one is meant."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(error, extra) from error


@contextmanager
def configured(extra: str) -> Iterator[None]:
    """The same where a table of the configuration asks for it, whose key is the extra's name."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError("laneway", f"{missing(error, extra)} - at `$.{extra}`") from error
