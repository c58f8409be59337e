"""Laws of explanations: asked once, briefly, and a few at a time."""

import asyncio
from collections.abc import Callable

import pytest

from laneway.core.errors import ChainUnreadable
from laneway.core.facts import BlockRef, LogsSeen, RevertSeen
from laneway.kinds.evm import explained
from laneway.kinds.evm.explained import Explanations, Unexplained
from laneway.kinds.limits import (
    EXPLANATION_S_MAX,
    EXPLANATIONS_AT_ONCE,
    EXPLANATIONS_KEPT_MAX,
    UNEXPLAINED_KEPT_S,
)
from laneway.ports import EvmCall, MinedCall

LOGS, REVERT = LogsSeen(()), RevertSeen(b"", "no", "a trace")


def mined(number: int = 1, block: bytes = b"b") -> MinedCall:
    return MinedCall(number.to_bytes(2), EvmCall(b"", b""), 21_000, BlockRef(9, block))


class Chain:
    """Counts its questions, and answers when it may."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.under_way = self.most = 0
        self.open = asyncio.Event()
        self.open.set()
        self.trouble = False

    async def logs(self, mined: MinedCall) -> LogsSeen:
        await self._answer("logs")
        return LOGS

    async def revert(self, mined: MinedCall) -> RevertSeen:
        await self._answer("revert")
        return REVERT

    async def _answer(self, what: str) -> None:
        self.asked.append(what)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.open.wait()
        finally:
            self.under_way -= 1
        if self.trouble:
            raise ChainUnreadable("a", "pruned")


def run(story: Callable[[Explanations, Chain], object]) -> None:
    async def main() -> None:
        done = story(Explanations(), Chain())
        assert asyncio.iscoroutine(done)
        await done

    asyncio.run(main())


def test_a_question_is_asked_once_for_each_block() -> None:
    async def story(known: Explanations, chain: Chain) -> None:
        for _ in range(2):
            assert await known.of(chain, mined(), ok=True) is LOGS
            assert await known.of(chain, mined(), ok=False) is REVERT
        assert chain.asked == ["logs", "revert"]
        await known.of(chain, mined(block=b"another"), ok=True)
        assert len(chain.asked) == 3

    run(story)


def test_what_nobody_knew_is_asked_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(known: Explanations, chain: Chain) -> None:
        now_s = 100.0
        monkeypatch.setattr(explained, "now_s", lambda: now_s)
        chain.trouble = True
        for _ in range(2):
            said = await known.of(chain, mined(), ok=False)
            assert isinstance(said, Unexplained)
            assert "pruned" in said.why
        assert len(chain.asked) == 1
        chain.trouble = False
        now_s += UNEXPLAINED_KEPT_S
        assert await known.of(chain, mined(), ok=False) is REVERT

    run(story)


def test_a_node_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(known: Explanations, chain: Chain) -> None:
        monkeypatch.setattr(explained, "EXPLANATION_S_MAX", 0.01)
        chain.open.clear()
        said = await known.of(chain, mined(), ok=False)
        assert isinstance(said, Unexplained)
        assert said.why == "no node answered within 0.01 s"

    run(story)


def test_a_question_counts_against_no_node() -> None:
    from laneway.chains.limits import SILENT_MS_MIN

    assert EXPLANATION_S_MAX * 1_000 < SILENT_MS_MIN


def test_a_few_are_asked_at_once() -> None:
    async def story(known: Explanations, chain: Chain) -> None:
        chain.open.clear()
        asking = [asyncio.create_task(known.of(chain, mined(one), ok=True)) for one in range(9)]
        for _ in range(9):
            await asyncio.sleep(0)
        chain.open.set()
        await asyncio.gather(*asking)
        assert (len(chain.asked), chain.most) == (9, EXPLANATIONS_AT_ONCE)

    run(story)


def test_the_oldest_is_forgotten() -> None:
    async def story(known: Explanations, chain: Chain) -> None:
        for number in range(EXPLANATIONS_KEPT_MAX):
            await known.of(chain, mined(number), ok=True)
        await known.of(chain, mined(0), ok=True)
        await known.of(chain, mined(EXPLANATIONS_KEPT_MAX), ok=True)
        asked = len(chain.asked)
        await known.of(chain, mined(0), ok=True)
        assert len(chain.asked) == asked
        await known.of(chain, mined(1), ok=True)
        assert len(chain.asked) == asked + 1

    run(story)


def test_without_a_chain_nobody_is_asked() -> None:
    async def story(known: Explanations, _: Chain) -> None:
        said = await known.of(None, mined(), ok=True)
        assert isinstance(said, Unexplained)
        assert said.why == "this process has no node of its chain"

    run(story)
