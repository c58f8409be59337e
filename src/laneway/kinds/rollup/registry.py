"""Every kind of rollup of this installation: laneway's own, then those of other distributions."""

from functools import cache
from typing import Any

from laneway.kinds.installed import installed
from laneway.rollups.default import DEFAULT
from laneway.rollups.kind import KindOfRollup

GROUP = "laneway.rollups"
"""The entry-point group in which a distribution names its kinds of rollups."""


@cache
def rollup_kinds() -> dict[str, KindOfRollup[Any, Any]]:
    """All of them, by name."""
    return installed(GROUP, (DEFAULT,))
