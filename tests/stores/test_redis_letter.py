"""An account's keys in Redis are the letter of seed 002 §2.1, and never part from its rows."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.redis_servers import Server, empty, shared
from tests.stores.letter_stage import owned, recorded, shown

from laneway.stores.redis import RedisStore


@pytest.fixture
def redis() -> Server:
    (one,) = shared(1)
    empty([one])
    return one


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_after_every_commit_the_keys_show_what_the_rows_say(redis: Server, seed: int) -> None:
    """Also when another process goes on with the lane, knowing nothing but its rows."""

    async def story() -> None:
        store = await RedisStore(redis.url).open()
        teller = await owned(store)
        for number, step in enumerate(recorded(seed)):
            if number % 40 == 39:
                await store.close()
                store = teller.store = await RedisStore(redis.url).open()
            await teller.tell(step)
            assert shown(redis) == await teller.drawn()
        assert teller.version > 60
        await store.close()

    run(story)
