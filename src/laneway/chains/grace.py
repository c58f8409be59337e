"""Many nodes asked at once, of which one that hangs must hold nobody."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any


async def with_grace(work: Iterable[Coroutine[Any, Any, None]], grace_s: float) -> None:
    """Until one has ended and the others were given so much longer. Whoever is not done then is
    cancelled, and has said what that proves before this returns."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait(tasks, timeout=grace_s)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in tasks:
        if not task.cancelled() and (bug := task.exception()) is not None:
            raise bug
