"""Waits whose bound is an assertion: what does not come in time makes the test fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    """The test fails, naming what it waited for, unless the block ends in time."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if limit.expired():
            pytest.fail(f"not within {seconds} s: {what}")
        raise
