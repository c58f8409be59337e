"""The configuration of contract lanes: `[contract]`, and `[host]`, who executes them."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from laneway.chains.limits import ANSWER_MS, CONNECT_MS, READ_MS
from laneway.devnets.contract.limits import ROUND_MS
from laneway.kinds.config import (
    ConfigPart,
    Conflict,
    Count,
    Duration,
    FreeTexts,
    Preset,
    Text,
    is_node_url,
)
from laneway.lanes.contract.settings import ContractSettings

D = ContractSettings()


class ContractSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """ContractSettings with ranges, without what only the host knows. See there for reasons."""

    fast_size: Count = D.fast_size
    execution_ms_max: Duration = D.execution_ms_max
    search_ms: Duration = D.search_ms
    retry_ms_min: Duration = D.retry_ms_min
    retry_ms_max: Duration = D.retry_ms_max
    stale_retries_max: Count = D.stale_retries_max
    exhausted: Literal["halt", "skip"] = D.exhausted
    breaker_failures: Count = D.breaker_failures
    breaker_open_ms: Duration = D.breaker_open_ms
    priorities: bool = D.priorities
    count_max: Count | None = D.count_max
    bytes_max: Count | None = D.bytes_max
    limit_policy: Literal["spill", "reject"] = D.limit_policy

    def settings(self) -> ContractSettings:
        return ContractSettings(**asdict(self))


class HostSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    kind: Literal["devnet", "rest", "callable"] = "devnet"
    url: Text | None = None
    """rest: the node's address."""
    password: str | None = None
    """rest: only from the environment, and never shown."""
    password_file: Text | None = None
    """rest: a file that only its owner may read; its last newline is not part of the password."""
    takes_parent: bool | None = None
    """Whether `execute` names its parent block. Unset: the devnet does, others do not."""
    connect_ms: Duration = CONNECT_MS
    read_ms: Duration = READ_MS
    answer_ms: Duration = ANSWER_MS
    callable: Text | None = None
    """callable: `module:function`."""
    round_ms: Duration = 1_000
    """devnet: how long a consensus round takes. Real ones take ten minutes."""


# The seed's own numbers (004 §§1, 5, 9), also where laneway is stricter: a conflict ends an
# execution and the worker goes on, the node picks the parent. It knows no breaker and no deadline;
# ours stay, for without them a dead node is asked for ever.
SEED_004: Preset = {
    "contract": {
        "fast_size": 5,
        "priorities": False,
        "limit_policy": "spill",
        "stale_retries_max": 1,
        "exhausted": "skip",
    },
    "host": {
        "url": "http://localhost:20000",
        "takes_parent": False,
        "round_ms": ROUND_MS,
    },
}


def contract_conflicts(contract: ContractSection, host: HostSection) -> Iterator[Conflict]:
    if contract.retry_ms_min > contract.retry_ms_max:
        yield (
            "contract.retry_ms_min",
            "contract.retry_ms_max",
            f"{contract.retry_ms_min} is more than `retry_ms_max`, {contract.retry_ms_max}",
        )
    if contract.limit_policy == "reject" and contract.count_max is contract.bytes_max is None:
        problem = "'reject' needs `count_max` or `bytes_max`"
        yield "contract.limit_policy", "contract.limit_policy", problem
    if host.kind == "rest" and not is_node_url(host.url):
        problem = "a rest host needs an address like http://127.0.0.1:20000"
        yield "host.url", "host.kind", problem
    if host.kind == "callable" and not re.fullmatch(r"[\w.]+:[\w.]+", host.callable or ""):
        yield "host.callable", "host.kind", "a callable host needs `module:function`"


class ContractConfig(ConfigPart):
    sections = {"contract": ContractSection, "host": HostSection}
    sections_before = "engine"
    presets = {"seed-004": SEED_004}
    free_texts = FreeTexts(
        secrets=frozenset(("host.password",)),
        addresses=frozenset(("host.url",)),
        harmless=frozenset(("host.callable", "host.password_file")),
    )

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        return contract_conflicts(config.contract, config.host)
