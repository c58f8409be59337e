"""Which settings may hold a secret, and how each of them is printed."""

from functools import cache
from typing import Any

from laneway.core.urls import REDACTED, shown_url
from laneway.kinds.config import FreeTexts
from laneway.kinds.kind import Kind
from laneway.kinds.registry import kinds
from laneway.signers.place import shown_signer

PROCESS = FreeTexts(
    addresses=frozenset(("store.path",)),
    harmless=frozenset(("server.listen", "server.keys_file")),
)
"""Those of the process' own sections. A new setting with free text must stand in one of the sets,
here or with its kind."""


def free_texts() -> FreeTexts:
    """Those of the process and of every kind."""
    return together(tuple(kinds().values()))


@cache
def together(found: tuple[Kind, ...]) -> FreeTexts:
    parts = (PROCESS, *(kind.configuration().free_texts for kind in found))
    return FreeTexts(
        **{
            name: frozenset().union(*(getattr(part, name) for part in parts))
            for name in FreeTexts.__struct_fields__
        }
    )


def shown_setting(path: str, value: Any) -> Any:
    """The value of a setting as it may be printed; of a table every value in it."""
    if isinstance(value, dict):
        return {key: shown_setting(f"{path}.{key}", inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shown_setting(path, inner) for inner in value]
    if not isinstance(value, str):
        return value
    if path in free_texts().secrets:
        return REDACTED
    return shown_signer(value) if path in free_texts().signers else shown_url(value)
