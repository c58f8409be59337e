"""Every kind of lane of this installation: laneway's own, then those of other distributions."""

import re
from functools import cache

from laneway.kinds.audit.kind import AuditKind
from laneway.kinds.config import ConfigError
from laneway.kinds.contract.kind import ContractKind
from laneway.kinds.cosmos.kind import CosmosKind
from laneway.kinds.delivery.kind import DeliveryKind
from laneway.kinds.evm.kind import EvmKind
from laneway.kinds.installed import installed
from laneway.kinds.kind import Kind
from laneway.kinds.rollup.kind import RollupKind

GROUP = "laneway.kinds"
"""The entry-point group in which a distribution names its kinds."""


@cache
def kinds() -> dict[str, Kind]:
    """All of them, by name."""
    own: tuple[Kind, ...] = (
        ContractKind(),
        EvmKind(),
        CosmosKind(),
        RollupKind(),
        AuditKind(),
        DeliveryKind(),
    )
    found = installed(GROUP, own)
    for name, kind in found.items():
        if re.fullmatch("[a-z]+", name) is None:
            problem = f"the kind {name!r} cannot be used: its name has other than small letters"
            raise ConfigError(type(kind).__module__, problem)
    return found
