"""What `laneway.toml` may say of Cosmos chains and accounts: tables, keys, ranges and defaults."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from laneway.kinds.common.tables import account_conflicts, signer_variables
from laneway.kinds.config import (
    ConfigPart,
    Conflict,
    Count,
    Duration,
    FreeTexts,
    Name,
    NodeName,
    Preset,
    Text,
    layered,
)
from laneway.kinds.limits import PRICE_FACTOR_MAX
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.signers.place import COSMOS_SCHEMES

Price = Annotated[str, Meta(pattern=r"^[0-9]{1,9}(\.[0-9]{1,6})?$")]
"""Of a unit of gas, in the chain's smallest coin: "0.004"."""
Coins = Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]
Blocks = Annotated[int, Meta(ge=1, le=100_000)]
Bytes = Annotated[int, Meta(ge=1, le=1 << 50)]

D = SequenceSettings()


class SequenceSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """SequenceSettings with ranges, for every chain that does not say otherwise. See there."""

    inflight: Annotated[int, Meta(ge=1, le=1_000)] = D.inflight
    timeout_blocks: Blocks = D.timeout_blocks
    attempts_max: Annotated[int, Meta(ge=1, le=8)] = D.attempts_max
    poll_ms: Duration = D.poll_ms
    statuses: Annotated[int, Meta(ge=2, le=200)] = D.statuses
    retry_ms: Duration = D.retry_ms
    make_retry_ms: Duration = D.make_retry_ms
    make_tries_max: Annotated[int, Meta(ge=1, le=16)] = D.make_tries_max
    rest_ms: Duration = D.rest_ms
    account_ms: Duration = D.account_ms
    conflict_blocks: Blocks = D.conflict_blocks
    watch_blocks: Blocks = D.watch_blocks
    block_ms: Duration = D.block_ms
    gas_percent: Annotated[int, Meta(ge=100, le=1_000)] = 110
    """What is asked for of a simulation's gas."""
    gas_default: Count = 200_000
    """Where a node cannot simulate: it only knows what is next in its own order."""
    account_bytes_max: Bytes = 200 << 20
    """Of all that one account has not settled: payloads and signed bytes (the original's 200 MiB).
    Who submits more waits."""
    process_bytes_max: Bytes = 1 << 30
    """The same of all accounts together, in this process."""
    submit_wait_ms: Duration = 60_000
    """How long a submission waits for such bytes."""
    offers_at_once: Annotated[int, Meta(ge=1, le=1_000)] = 64
    """Nodes that are offered something at once, by all accounts of this process."""
    looks_at_once: Annotated[int, Meta(ge=1, le=1_000)] = 64
    """Nodes that are looked at at once."""


class CosmosNodeSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One node of a chain."""

    url: Text
    """CometBFT's JSON-RPC over HTTP."""
    name: NodeName = ""
    """Shown, and committed with what is offered to it; unset: its host and port."""
    calls_per_s: Annotated[float, Meta(ge=0)] = 0.0
    """What a hosted node allows; every call of a batch counts. 0: no bound."""


class CosmosAccountSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One account of a chain; its lane is `cosmos:CHAIN_ID:ADDRESS`."""

    name: Name
    signer: Text
    """Where its key is: keystore:PATH, file:PATH, env:NAME, mnemonic:PATH, mnemonic:PATH#HDPATH."""
    password_file: Text | None = None
    """keystore: a file with its password that only its owner may read."""
    granter: str = ""
    """Whose allowance pays its fees; empty: its own coins."""
    workers: Annotated[int, Meta(ge=0, le=64)] = 0
    """Accounts beside it that submit in its name, each a lane of its own, without an order among
    them. Their keys are derived from its own, and it pays their fees by an allowance."""
    inflight: Annotated[int, Meta(ge=1, le=1_000)] | UnsetType = UNSET
    fee_max: Coins | UnsetType = UNSET
    """Of one transaction. Above it none is made, and its intent waits."""


class CosmosSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One Cosmos chain."""

    name: Name
    chain_id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,50}$")]
    nodes: Annotated[tuple[Text | CosmosNodeSection, ...], Meta(min_length=1, max_length=8)]
    """Addresses, or tables that say more. Everything is offered to all of them."""
    accounts: tuple[CosmosAccountSection, ...] = ()
    prefix: Annotated[str, Meta(pattern=r"^[a-z]{1,20}$")] = "celestia"
    """Of its addresses."""
    denom: Annotated[str, Meta(pattern=r"^[a-zA-Z][a-zA-Z0-9/:._-]{2,127}$")] = "utia"
    """The coin that fees are paid in."""
    gas_price: Price | None = None
    """What is paid for a unit of gas; unset: what the chain's own estimate says."""
    gas_price_min: Price = "0.004"
    """And never less, also where it has none (celestia-app's default)."""
    gas_price_max: Price | None = None
    """And never more, whatever nodes ask for: above it nothing is signed, and its intent waits;
    unset: a hundred times `gas_price_min`."""
    words: tuple[tuple[str, str], ...] = ()
    """Rows of one's own for its nodes' error messages: [kind, pattern]."""
    inflight: Annotated[int, Meta(ge=1, le=1_000)] | UnsetType = UNSET
    timeout_blocks: Blocks | UnsetType = UNSET
    poll_ms: Duration | UnsetType = UNSET
    block_ms: Duration | UnsetType = UNSET
    statuses: Annotated[int, Meta(ge=2, le=200)] | UnsetType = UNSET


# The seed's own numbers, and where it has none those of its prototype and of the v1 client it
# wraps: statuses of twenty at once, asked for every second, and 200 MiB in memory. What would pay
# twice is not to be had: bytes signed again after a minute of mismatch, an error for what no node
# knows, a rejection that ends a payload whose bytes may yet land.
SEED_003: Preset = {
    "sequence": {
        "poll_ms": 1_000,
        "statuses": 20,
        "account_bytes_max": 200 << 20,
        "process_bytes_max": 200 << 20,
    },
}


def sequence_settings(
    section: SequenceSection,
    chain: CosmosSection,
    account: CosmosAccountSection,
    nodes: tuple[str, ...],
) -> SequenceSettings:
    """What holds for one account: its own setting, else its chain's, else that for all."""
    chosen = layered(section, chain, account)
    own = {key: chosen[key] for key in SequenceSettings.__struct_fields__ if key in chosen}
    return SequenceSettings(**own, nodes=nodes)


def cosmos_nodes(chain: CosmosSection) -> list[CosmosNodeSection]:
    return [CosmosNodeSection(url=node) if isinstance(node, str) else node for node in chain.nodes]


def price_micro_max(chain: CosmosSection) -> int | None:
    """The ceiling of what nodes may ask for a unit of gas; None where the operator names the price
    itself, or a least price of nothing."""
    if chain.gas_price is not None:
        return None
    if chain.gas_price_max is not None:
        return micro(chain.gas_price_max)
    return PRICE_FACTOR_MAX * micro(chain.gas_price_min) or None


def micro(price: str) -> int:
    """Millionths of a coin."""
    return int(Decimal(price) * 1_000_000)


class CosmosConfig(ConfigPart):
    sections = {"sequence": SequenceSection}
    tables = {"cosmos": CosmosSection}
    presets = {"seed-003": SEED_003}
    free_texts = FreeTexts(
        signers=frozenset(("cosmos.accounts.signer",)),
        addresses=frozenset(("cosmos.nodes", "cosmos.nodes.url")),
        harmless=frozenset(
            ("cosmos.words", "cosmos.accounts.password_file", "cosmos.accounts.granter")
        ),
    )

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        return account_conflicts("cosmos", config.cosmos, COSMOS_SCHEMES, 26657)

    def variables(self, config: Any) -> Iterator[str]:
        return signer_variables(config.cosmos)

    def plain_table(self, table: CosmosSection) -> dict[str, Any]:
        return {**super().plain_table(table), "nodes": to_builtins(cosmos_nodes(table))}
