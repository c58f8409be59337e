"""Taking over an account that engine-core ran, as a configuration describes it."""

from laneway.core.errors import BadRequest
from laneway.stores.redis import RedisStore
from laneway.stores.redis.adopt import Adoption, adopt
from laneway.wiring.config import Configuration
from laneway.wiring.evm import EvmLanes
from laneway.wiring.process import run
from laneway.wiring.store import open_store
from laneway.wiring.system import SystemClock, fresh_owner


def adopt_account(configuration: Configuration, lane: str, *, dry_run: bool) -> Adoption:
    return run(adopted(configuration, lane, dry_run=dry_run))


async def adopted(configuration: Configuration, lane: str, *, dry_run: bool) -> Adoption:
    config = configuration.config
    clock = SystemClock()
    store = open_store(config.store.path, clock, config.store.options())
    accounts = EvmLanes(config.evm, config.eoa, clock)
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
        )
    finally:
        await accounts.close()
        await store.close()
