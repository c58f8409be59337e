"""What `laneway.toml` may say of EVM chains and accounts: tables, keys, ranges and defaults."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins
from msgspec.structs import replace

from laneway.core.units import read_wei
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
from laneway.kinds.limits import COUNT_MAX
from laneway.lanes.eoa.fees import BASE_FEE_TIMES, table_ceiling, written
from laneway.lanes.eoa.settings import INFLIGHT_MAX, EoaSettings
from laneway.signers.place import SCHEMES

Wei = Annotated[str, Meta(pattern=r"^[0-9]+(\.[0-9]+)? ?(wei|gwei|ether)?$")]
"""As people write it: "30 gwei", "0.5 ether", "1000"."""
Inflight = Annotated[int, Meta(ge=1, le=INFLIGHT_MAX)]
Percent = Annotated[int, Meta(ge=100, le=1_000)]

D = EoaSettings()


class EoaSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """EoaSettings with ranges, for every chain that does not say otherwise. See there."""

    inflight: Inflight | None = D.inflight
    target_tps: Count = D.target_tps
    block_ms: Duration = D.block_ms
    confirm_delay_ms: Duration = D.confirm_delay_ms
    finality_depth_blocks: Annotated[int, Meta(ge=0, le=COUNT_MAX)] = D.finality_depth_blocks
    bump_after_ms: Duration = D.bump_after_ms
    max_recycled_nonces: Count = D.recycled_max
    """The seed's name: with more free nonces than this no new ones are given out."""
    recycled: Literal["returned", "any"] = D.recycled
    fee_wei_max: Wei | None = None
    """Unset: what the table of chains says, and at most ten times the base fee."""
    cost_wei_max: Wei | None = None
    spend_wei_max: Wei | None = None
    poll_ms: Duration = D.poll_ms
    look_ms_min: Duration = D.look_ms_min
    rest_ms: Duration = D.rest_ms
    resend_ms: Duration = D.resend_ms
    make_retry_ms: Duration = D.make_retry_ms
    make_tries_max: Annotated[int, Meta(ge=1, le=16)] = D.make_tries_max
    funds_check_ms: Duration = D.funds_check_ms
    funds_retry_ms: Duration = D.funds_retry_ms
    gas_percent: Percent = 120
    """What is asked for of an estimate of gas."""
    streams: Annotated[int, Meta(ge=1, le=4)] = 1
    """Batches of one account under way at once. More than one is quicker with a node that keeps
    numbers with a gap below them, and slower with one that drops or strands them."""


class NodeSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One node of a chain."""

    url: Text
    """JSON-RPC over HTTP."""
    name: NodeName = ""
    """Shown, and committed with what is offered to it; unset: its host and port."""
    ws_url: str = ""
    """Where it reports new blocks; unset: it is polled."""
    calls_per_s: Annotated[float, Meta(ge=0)] = 0.0
    """What a hosted node allows; every call of a batch counts. 0: no bound."""
    client: str = ""
    """Whose error messages it has; unset: it is asked."""


class AccountSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One account of a chain; its lane is `evm:CHAIN_ID:ADDRESS`."""

    name: Name
    signer: Text
    """Where its key is: keystore:PATH, file:PATH, env:NAME, web3signer:URL#ADDRESS."""
    password_file: Text | None = None
    """keystore: a file with its password that only its owner may read."""
    inflight: Inflight | UnsetType = UNSET
    fee_wei_max: Wei | UnsetType = UNSET
    cost_wei_max: Wei | UnsetType = UNSET
    spend_wei_max: Wei | UnsetType = UNSET


DEVNET = "devnet"
"""The one word for a node that is a chain inside this process."""
DEV_SIGNER = re.compile(r"dev:([0-9])")
DEV_CHAIN_ID = 31_337
DEV_BLOCK_MS = 500
"""Between the blocks of a chain inside this process: quick enough for a person who waits."""


def dev_index(signer: str) -> int:
    """The number of the known account whose signer is this."""
    found = DEV_SIGNER.fullmatch(signer)
    assert found is not None, "conflicts are told before anything is opened"
    return int(found[1])


class EvmSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One EVM chain."""

    name: Name
    chain_id: Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]
    nodes: Annotated[tuple[Text | NodeSection, ...], Meta(min_length=1, max_length=16)]
    """Addresses, or tables that say more. Everything is offered to all of them. The one word
    "devnet" is a chain inside this process, whose known accounts have the signers dev:0 to
    dev:9."""
    accounts: tuple[AccountSection, ...] = ()
    flashblocks: bool = False
    """Whether its pending state is a flashblock's promise (Base and others)."""
    words: tuple[tuple[str | int, ...], ...] = ()
    """Rows of one's own for its nodes' error messages: [kind, pattern] or [kind, pattern, code]."""
    inflight: Inflight | UnsetType = UNSET
    target_tps: Count | UnsetType = UNSET
    block_ms: Duration | UnsetType = UNSET
    confirm_delay_ms: Duration | UnsetType = UNSET
    finality_depth_blocks: Annotated[int, Meta(ge=0, le=COUNT_MAX)] | UnsetType = UNSET
    bump_after_ms: Duration | UnsetType = UNSET
    poll_ms: Duration | UnsetType = UNSET
    fee_wei_max: Wei | UnsetType = UNSET
    cost_wei_max: Wei | UnsetType = UNSET
    spend_wei_max: Wei | UnsetType = UNSET

    def is_embedded(self) -> bool:
        """Whether its chain is inside this process."""
        return self.nodes == (DEVNET,)


# The seed's own numbers (002 §§1, 3), and what its code does in its charts: any intent may take a
# recycled nonce, a fixed window. Where it would pay twice (nonces given away after a lost answer,
# resets below what is bound, a lock taken by force) ours stays. So does our depth: with one block
# final, as the seed has it, a reorg could bring back bytes whose nonce was given up.
SEED_002: Preset = {
    "eoa": {
        "inflight": 50,
        "recycled": "any",
        "max_recycled_nonces": 50,
        "bump_after_ms": 60_000,
        "funds_check_ms": 300_000,
        "funds_retry_ms": 60_000,
        "make_retry_ms": 100,
        "make_tries_max": 3,
        "poll_ms": 200,
    },
}

WEI_KEYS = ("fee_wei_max", "cost_wei_max", "spend_wei_max")


def settings_of(
    eoa: EoaSection, chain: EvmSection, account: AccountSection, nodes: tuple[str, ...]
) -> EoaSettings:
    """What holds for one account: its own setting, else its chain's, else that for all."""
    chosen = layered(eoa, chain, account)
    for key in WEI_KEYS:
        chosen[key] = None if chosen[key] is None else read_wei(chosen[key])
    wei, source, is_set = fee_ceiling(eoa, chain, account)
    chosen |= {"fee_wei_max": wei, "fee_wei_source": source, "fee_by_base": not is_set}
    del chosen["gas_percent"], chosen["streams"]
    recycled_max = chosen.pop("max_recycled_nonces")
    return EoaSettings(**chosen, recycled_max=recycled_max, nodes=nodes)


def fee_ceiling(
    eoa: EoaSection, chain: EvmSection, account: AccountSection | None = None
) -> tuple[int, str, bool]:
    """The most that a unit of gas may cost, where that comes from, and whether someone set it. What
    nobody set comes from the table of chains, and is bounded by the base fee too."""
    layers = (
        (UNSET if account is None else account.fee_wei_max, "fee_wei_max of the account"),
        (chain.fee_wei_max, f"fee_wei_max of {chain.name}"),
        (UNSET if eoa.fee_wei_max is None else eoa.fee_wei_max, "eoa.fee_wei_max"),
    )
    for found, source in layers:
        if found is not UNSET:
            return read_wei(found), source, True
    return *table_ceiling(chain.chain_id), False


def ceiling_remark(configuration: Any, chain: EvmSection) -> tuple[dict[str, object], str]:
    """What a unit of gas may cost on a chain unless an account says otherwise, and where that comes
    from. For people it is a remark: a default is no line of a file."""
    wei, source, is_set = fee_ceiling(configuration.config.eoa, chain)
    path = "eoa.fee_wei_max" if source == "eoa.fee_wei_max" else "evm"
    origin = f"{configuration.origins[path][1]}: {source}" if is_set else source
    rule = f"fee ceiling: {written(wei)} a unit of gas ({origin})"
    if not is_set:
        rule += f", and {BASE_FEE_TIMES} times the base fee"
    times = None if is_set else BASE_FEE_TIMES
    return {"fee_wei_max": written(wei), "origin": origin, "base_fee_times": times}, rule


def nodes_of(chain: EvmSection) -> list[NodeSection]:
    return [NodeSection(url=node) if isinstance(node, str) else node for node in chain.nodes]


def embedded_conflicts(chain: EvmSection, config: Any) -> Iterator[str]:
    twins = [one for one in config.evm if one.name == chain.name or one.chain_id == chain.chain_id]
    if len(twins) > 1:
        yield f"{chain.name}: two tables have the name or the id of the chain inside this process"
    if config.store.path != ":memory:":
        problem = "a chain inside this process is forgotten with it, and so must be what is queued"
        yield f"{chain.name}: {problem}: name no database"
    for account in chain.accounts:
        if not DEV_SIGNER.fullmatch(account.signer):
            yield f"{chain.name}: the signer of {account.name} is one of dev:0 to dev:9"


def with_devnet(configuration: Any, block_ms: int | None) -> Any:
    """The configuration of `up --dev`: the same with a chain inside this process, a lane for each
    of its known accounts, and a database in memory."""
    accounts = tuple([AccountSection(name=f"dev{n}", signer=f"dev:{n}") for n in range(10)])
    table = EvmSection(
        name="dev",
        chain_id=DEV_CHAIN_ID,
        nodes=(DEVNET,),
        accounts=accounts,
        block_ms=block_ms or DEV_BLOCK_MS,
        confirm_delay_ms=0,
        finality_depth_blocks=1,
        poll_ms=100,
    )
    config = configuration.config
    if "store.path" not in configuration.origins:
        store = replace(config.store, path=":memory:", durability="memory")
        configuration = replace(configuration, config=replace(config, store=store))
    return configuration.with_table("evm", table, "--dev")


class EvmConfig(ConfigPart):
    sections = {"eoa": EoaSection}
    tables = {"evm": EvmSection}
    presets = {"seed-002": SEED_002}
    free_texts = FreeTexts(
        signers=frozenset(("evm.accounts.signer",)),
        addresses=frozenset(("evm.nodes", "evm.nodes.url", "evm.nodes.ws_url")),
        harmless=frozenset(("evm.words", "evm.nodes.client", "evm.accounts.password_file")),
    )

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        elsewhere = [one for one in config.evm if not one.is_embedded()]
        yield from account_conflicts("evm", elsewhere, SCHEMES, 8545)
        for one in config.evm:
            if one.is_embedded():
                problems = embedded_conflicts(one, config)
                yield from (("evm", "evm", problem) for problem in problems)

    def variables(self, config: Any) -> Iterator[str]:
        return signer_variables(config.evm)

    def plain_table(self, table: EvmSection) -> dict[str, Any]:
        return {**super().plain_table(table), "nodes": to_builtins(nodes_of(table))}

    def remarks(self, configuration: Any, table: EvmSection) -> Mapping[str, tuple[object, str]]:
        return {"fee_ceiling": ceiling_remark(configuration, table)}
