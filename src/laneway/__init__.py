"""laneway gets every transaction on chain exactly once, in order, even if you crash."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.wiring.embedded import Handle, Laneway, Settled

__all__ = ["Handle", "Laneway", "Settled"]


def __getattr__(name: str) -> object:
    """Import what is asked for and no more: listing commands start in a tenth of a second."""
    if name in __all__:
        from laneway.wiring import embedded

        return getattr(embedded, name)
    raise AttributeError(f"module 'laneway' has no attribute {name!r}")
