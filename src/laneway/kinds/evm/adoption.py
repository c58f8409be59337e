"""Taking over an account that engine-core ran, as a configuration describes it."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from laneway.core.errors import BadRequest, ChainError
from laneway.engine.eoa import EvmAccount
from laneway.engine.eoa.looking import owner_of, prove_owner
from laneway.engine.limits import READ_TIMEOUT_MS
from laneway.engine.system import SystemClock, fresh_owner
from laneway.evm.envelope import decode
from laneway.kinds.evm.lanes import EvmLanes
from laneway.lanes.eoa.values import ProveNonce
from laneway.ports import Store
from laneway.stores.redis import RedisStore
from laneway.stores.redis.engine_core.adopt import Adoption, adopt
from laneway.stores.redis.engine_core.found import Use


async def adopted(config: Any, store: Store, lane: str, *, dry_run: bool) -> Adoption:
    clock = SystemClock()
    accounts = EvmLanes(config.evm, config.eoa, clock)

    async def uses(nonces: Sequence[int]) -> Mapping[int, Use | None]:
        depth = account.settings.finality_depth_blocks
        opened = accounts.accounts[account.lane]
        return {nonce: await use_of(opened, nonce, depth) for nonce in nonces}

    try:
        if not isinstance(store, RedisStore):
            raise BadRequest("store", "engine-core keeps accounts in Redis; name that as the store")
        await accounts.open()
        account = accounts.account(accounts.lane(lane))
        return await adopt(
            store,
            account.lane,
            fresh_owner(),
            nodes=account.settings.nodes,
            at_ms=clock.now_ms(),
            dry_run=dry_run,
            uses=uses,
        )
    finally:
        await accounts.close()


async def use_of(account: EvmAccount, nonce: int, depth: int) -> Use | None:
    """What this account sent at a nonce, once a majority of its nodes shows it in a final block;
    None where they do not, or do not answer."""
    try:
        async with asyncio.timeout(READ_TIMEOUT_MS / 1000):
            proof = await prove_owner(account, ProveNonce(nonce, (), depth))
            claims = await account.view.chain.at_nonce(account.address, nonce)
    except (ChainError, TimeoutError):
        return None
    if proof.receipt is None:
        return None
    for claim in claims:
        if owner_of(account, nonce, claim) == proof.receipt.hash:
            made = decode(claim.raw)
            return Use(proof.receipt.hash, made.to, made.value_wei, made.data)
    return None
