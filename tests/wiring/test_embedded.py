"""The library's own edge: bad input gets a clear error and loses nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import (
    AccountNotFound,
    BadRequest,
    Draining,
    IntentConflict,
    IntentNotFound,
    LaneNotFound,
    StoreBusy,
    StoreError,
    StoreRefused,
)
from laneway.core.ids import intent_id
from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.engine.heart import Retention
from laneway.engine.system import SystemClock
from laneway.kinds import handle
from laneway.kinds.contract.served import ContractServed
from laneway.lanes.contract import ContractSettings
from laneway.ports import ContractCall
from laneway.stores.group import GroupStore
from laneway.stores.memory import MemoryBook
from laneway.wire.evm import EvmPayload
from laneway.wiring.embedded import EngineStopped, Laneway
from laneway.wiring.store import open_store

UNKNOWN = intent_id(99, bytes(10))


def open_at(path: Path, round_ms: int = 5, **settings: Any) -> Laneway:
    host = EmbeddedHost(ContractChain(round_ms=round_ms))
    return Laneway.open(str(path / "q.db"), host, ContractSettings(**settings))


BAD_SUBMISSIONS: list[tuple[str, dict[str, Any]]] = [
    ("contract", {"contract": ""}),
    ("contract", {"contract": "Qm 1"}),
    ("contract", {"contract": "Qm/1"}),
    ("contract", {"contract": "Qm\n1"}),
    ("contract", {"contract": "Qmü"}),
    ("contract", {"contract": "Q" * 300}),
    ("contract", {"contract": None}),
    ("contract", {"contract": 5}),
    ("data", {"data": b"bytes"}),
    ("data", {"data": {"to": "ann"}}),
    ("data", {"data": None}),
    ("data", {"data": "x" * (2 << 20)}),
    ("data", {"data": "lone \ud800"}),
    ("executor", {"executor": 7}),
    ("comment", {"comment": ["no"]}),
    ("quorum_type", {"quorum_type": "2"}),
    ("quorum_type", {"quorum_type": True}),
    ("quorum_type", {"quorum_type": -1}),
    ("quorum_type", {"quorum_type": 1 << 70}),
    ("key", {"key": ""}),
    ("key", {"key": "k" * 256}),
    ("key", {"key": "tab\there"}),
    ("key", {"key": 7}),
    ("priority", {"priority": 9}),
    ("priority", {"priority": 4}),
    ("priority", {"priority": -1}),
    ("priority", {"priority": 1.5}),
    ("priority", {"priority": "urgent"}),
    ("valid_until_ms", {"valid_until_ms": 1.5}),
    ("valid_until_ms", {"valid_until_ms": -1}),
    ("valid_until_ms", {"valid_until_ms": "tomorrow"}),
]


@pytest.mark.parametrize(("field", "wrong"), BAD_SUBMISSIONS, ids=lambda v: str(v)[:40])
def test_a_bad_submission_names_its_field_and_changes_nothing(
    field: str, wrong: dict[str, Any]
) -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=1))
        async with Laneway.open(":memory:", host, ContractSettings(priorities=True)) as laneway:
            with pytest.raises(BadRequest) as refused:
                await laneway.submit(**({"contract": "Qm1", "data": "d"} | wrong))
            assert refused.value.field == field
            assert field in str(refused.value)
            assert refused.value.retry == "never"
            assert await laneway.metrics() == []
            good = await laneway.submit("Qm1", "d")
            assert (await good.result(5)).block == 1

    asyncio.run(main())


def test_the_largest_values_allowed_are_executed(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_at(tmp_path, priorities=True) as laneway:
            handle = await laneway.submit(
                "Q" * 190,
                "x" * ((1 << 20) - 300),
                executor="did:ü🎉",
                comment="ﬁ\u0000\u202e",
                key="k" * 255,
                priority=3,
                valid_until_ms=(1 << 53) - 1,
                quorum_type=(1 << 53) - 1,
            )
            assert (await handle.result(5)).status == "confirmed"

    asyncio.run(main())


@pytest.mark.parametrize("bad", [["k"], ["k", "l", "m"]])
def test_a_batch_with_too_few_or_too_many_keys_is_refused_whole(bad: list[str]) -> None:
    async def main() -> None:
        async with Laneway.open(":memory:", EmbeddedHost(ContractChain())) as laneway:
            with pytest.raises(BadRequest):
                await laneway.submit_many([ContractCall("Qm1", "", "d")] * 2, bad)
            assert await laneway.metrics() == []

    asyncio.run(main())


def test_a_batch_with_one_bad_call_is_refused_whole() -> None:
    async def main() -> None:
        async with Laneway.open(":memory:", EmbeddedHost(ContractChain())) as laneway:
            with pytest.raises(BadRequest):
                await laneway.submit_many(
                    [ContractCall("Qm1", "", "d"), ContractCall("Qm 1", "", "d")]
                )
            assert await laneway.metrics() == []
            assert await laneway.submit_many([]) == []

    asyncio.run(main())


def test_a_conflict_in_a_batch_leaves_the_others_their_handles() -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=1))
        async with Laneway.open(":memory:", host) as laneway:
            await laneway.submit("Qm1", "a", key="k")
            calls = [ContractCall("Qm1", "", data) for data in ("b", "c", "a")]
            conflict, fresh, replayed = await laneway.submit_many(calls, ["k", "l", "m"])
            assert isinstance(conflict.refusal, IntentConflict)
            with pytest.raises(IntentConflict):
                await conflict.result()
            assert (await fresh.result(5)).block == 2
            assert (await replayed.result(5)).block == 3

    asyncio.run(main())


WRONG_QUESTIONS: list[tuple[type[Exception], Callable[[Laneway], Awaitable[Any]]]] = [
    (IntentNotFound, lambda laneway: laneway.show(UNKNOWN)),
    (IntentNotFound, lambda laneway: laneway.show("nonsense")),
    (IntentNotFound, lambda laneway: laneway.show("tx_" + "g" * 32)),
    (IntentNotFound, lambda laneway: laneway.show("")),
    (IntentNotFound, lambda laneway: laneway.show(None)),  # type: ignore[arg-type]
    (IntentNotFound, lambda laneway: laneway.wait(UNKNOWN)),
    (IntentNotFound, lambda laneway: laneway.cancel(UNKNOWN)),
    (IntentNotFound, lambda laneway: laneway.cancel("nonsense")),
    (IntentNotFound, lambda laneway: laneway.settle(UNKNOWN, "executed")),
    (BadRequest, lambda laneway: laneway.settle(UNKNOWN, "perhaps")),
    (BadRequest, lambda laneway: laneway.lane("never seen")),
    (LaneNotFound, lambda laneway: laneway.lane("QmNever")),
    (LaneNotFound, lambda laneway: laneway.lane("contract:QmNever")),
    (LaneNotFound, lambda laneway: laneway.lane("evm:dev:hot")),
    (LaneNotFound, lambda laneway: laneway.health("rollup:1")),
    (BadRequest, lambda laneway: laneway.drain_lane("Qm1", "now")),
    (BadRequest, lambda laneway: laneway.drain_lane("Qm 1")),
    (BadRequest, lambda laneway: laneway.pause("")),
    (BadRequest, lambda laneway: laneway.pause("Qm1", reason="x" * 501)),
    (BadRequest, lambda laneway: laneway.pause("Qm1", by="x" * 501)),
    (BadRequest, lambda laneway: laneway.resume("Qm1", reason=5)),  # type: ignore[arg-type]
    (BadRequest, lambda laneway: laneway.close("later")),  # type: ignore[arg-type]
    (BadRequest, lambda laneway: laneway.close("")),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("error", "ask"), WRONG_QUESTIONS)
def test_a_wrong_question_or_command_is_refused_and_the_engine_goes_on(
    error: type[Exception], ask: Callable[[Laneway], Awaitable[Any]]
) -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=1))
        async with Laneway.open(":memory:", host) as laneway:
            with pytest.raises(error):
                await ask(laneway)
            assert await laneway.metrics() == []
            assert (await (await laneway.submit("Qm1", "d")).result(5)).block == 1

    asyncio.run(main())


def test_what_is_final_can_neither_be_cancelled_nor_settled() -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=1))
        async with Laneway.open(":memory:", host) as laneway:
            handle = await laneway.submit("Qm1", "d")
            await handle.result(5)
            with pytest.raises(BadRequest, match="final already: confirmed"):
                await handle.cancel()
            with pytest.raises(BadRequest, match="final already"):
                await laneway.settle(handle.id, "skip")

    asyncio.run(main())


def test_an_intent_is_shown_wherever_it_is(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_at(tmp_path, round_ms=60_000) as laneway:
            running = await laneway.submit("Qm1", "a", key="k")
            waiting = await laneway.submit("Qm1", "b")
            while (await laneway.show(running.id)).status != "submitted":
                await asyncio.sleep(0.001)
            shown = await laneway.show(running.id)
            assert (shown.idempotency_key, shown.seq, shown.block) == ("k", 1, None)
            assert shown.reason == "running"
            assert (await laneway.show(waiting.id)).status == "queued"
            await waiting.cancel(reason="never mind")
            await waiting.result(5)
            shown = await laneway.show(waiting.id)
            assert (shown.status, shown.reason) == ("cancelled", "never mind")

    asyncio.run(main())


def test_a_pruned_intent_still_tells_its_final_word_and_keeps_its_key(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_at(tmp_path) as laneway:
            handle = await laneway.submit("Qm1", "d", key="k")
            await handle.result(5)
            await laneway.store.prune(1 << 50, 1 << 50, 100)
            shown = await laneway.show(handle.id)
            assert shown.status == "confirmed"
            assert "retention" in shown.reason
            again = await laneway.submit("Qm1", "d", key="k")
            assert (again.id, again.replayed) == (handle.id, True)
            assert (await again.result(5)).status == "confirmed"
            with pytest.raises(IntentNotFound):
                await handle.cancel()

    asyncio.run(main())


def test_a_lane_stopped_by_a_bug_says_so(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(EmbeddedHost):
        async def latest_block(self, contract: str) -> int:
            raise KeyError("an adapter's bug")

    async def main() -> None:
        async with Laneway.open(":memory:", Broken(ContractChain())) as laneway:
            handle = await laneway.submit("Qm1", "d")
            while not laneway.engine.faults:
                await asyncio.sleep(0.001)
            shown = await laneway.lane("Qm1")
            assert shown.state == "halted"
            assert "stopped by a bug: KeyError" in shown.reason
            assert "stopped by a bug" in (await laneway.show(handle.id)).reason

    asyncio.run(main())


# Life and death.


def test_a_wait_that_times_out_takes_nothing_back_and_leaves_nothing_behind() -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=40))
        async with Laneway.open(":memory:", host) as laneway:
            handle = await laneway.submit("Qm1", "d")
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    await handle.result(0.001)
            assert not handle._futures
            assert (await handle.result(5)).block == 1
            assert (await handle.result(5)).block == 1

    asyncio.run(main())


def test_a_handle_that_nobody_holds_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handle, "HANDLES_SWEEP_MIN", 10)

    async def main() -> None:
        async with Laneway.open(":memory:", EmbeddedHost(ContractChain(round_ms=1_000))) as laneway:
            kept = [await laneway.submit("Qm1", str(number)) for number in range(15)]
            for number in range(100):
                await laneway.submit("Qm1", str(number))
                # Those that are held, as many again that are not, and the one just made.
                assert len(laneway.handles._held) <= 2 * len(kept) + 1
            held = laneway.handles._held
            assert all(held[one.id]() is one for one in kept)

    asyncio.run(main())


def test_a_caller_that_gives_up_submitting_does_not_take_it_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_at(tmp_path) as laneway:
            submitting = asyncio.ensure_future(laneway.submit("Qm1", "d", key="k"))
            await asyncio.sleep(0)
            submitting.cancel()
            await asyncio.gather(submitting, return_exceptions=True)
            again = await laneway.submit("Qm1", "d", key="k")
            assert (await again.result(5)).block == 1

    asyncio.run(main())


def test_closing_twice_and_at_once_is_closing_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_at(tmp_path) as laneway:
            await laneway.submit("Qm1", "d")
            await asyncio.gather(laneway.close("queue"), laneway.close(), laneway.close())
            with pytest.raises(Draining):
                await laneway.submit("Qm1", "late")
            with pytest.raises(EngineStopped):
                laneway.check()
        async with open_at(tmp_path):
            pass

    asyncio.run(main())


def test_a_close_that_is_cancelled_still_leaves_a_closed_file(tmp_path: Path) -> None:
    async def main() -> None:
        laneway = open_at(tmp_path, round_ms=60_000)
        await laneway.__aenter__()
        await laneway.submit("Qm1", "d")
        closing = asyncio.ensure_future(laneway.close("queue"))
        await asyncio.sleep(0.02)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        async with open_at(tmp_path):
            pass

    asyncio.run(main())


async def after_open(act: Callable[[Laneway], Awaitable[object]]) -> object:
    async with Laneway.open(":memory:", EmbeddedHost(ContractChain(round_ms=5))) as laneway:
        return await act(laneway)


async def on_block(laneway: Laneway) -> None:
    laneway.on_block(lambda _lane, _tell: None)


async def client_of(laneway: Laneway) -> None:
    laneway.cosmos_client("cosmos:dev:main")


@pytest.mark.parametrize(
    ("error", "words", "act"),
    [
        (BadRequest, "^data:", lambda lw: lw.submit("Qm1", b"x")),
        (BadRequest, "^data:", lambda lw: lw.submit("Qm1", 5)),
        (BadRequest, "^data:", lambda lw: lw.submit("Qm1", None)),
        (BadRequest, "^data:", lambda lw: lw.submit("Qm1")),
        (BadRequest, "^dat: there is no such", lambda lw: lw.submit("Qm1", {"dat": "x"})),
        (BadRequest, "^contract: B is not", lambda lw: lw.submit("A", ContractCall("B", "", "x"))),
        (TypeError, "typo", lambda lw: lw.submit("Qm1", "x", typo=1)),
        (TypeError, "executor", lambda lw: lw.submit("A", ContractCall("A", "", "x"), executor="")),
        (AccountNotFound, "evm:dev:hot", lambda lw: lw.send("evm:dev:hot", to=None)),
        (AccountNotFound, "cosmos:dev:main", client_of),
        (BadRequest, "rollup", on_block),
        (IntentNotFound, UNKNOWN, lambda lw: lw.replace(UNKNOWN, EvmPayload())),
    ],
)
def test_what_a_caller_does_wrong_is_said_in_its_own_words(
    error: type[Exception], words: str, act: Callable[[Laneway], Awaitable[object]]
) -> None:
    with pytest.raises(error, match=words):
        asyncio.run(after_open(act))


def test_a_contract_is_named_by_its_keyword_wherever_a_lane_is() -> None:
    async def story(lw: Laneway) -> None:
        await lw.pause(contract="Qm1", reason="audit")
        handle = await lw.submit(contract="Qm1", data="x")
        async with asyncio.timeout(5):
            while (await lw.lane("Qm1")).state != "paused":
                await asyncio.sleep(0.01)
        await lw.resume(contract="Qm1")
        assert (await handle.result(5)).block == 1
        await lw.drain_lane(contract="Qm1")

    asyncio.run(after_open(story))


class Clumsy(ContractServed):
    """Fails at both steps of its end."""

    async def stopping(self) -> None:
        raise ZeroDivisionError("stopping")

    async def close(self) -> None:
        await super().close()
        raise ZeroDivisionError("close")


def test_a_kind_that_fails_at_its_end_still_leaves_a_stopped_engine_and_a_closed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        clock = SystemClock()
        host = EmbeddedHost(ContractChain(round_ms=5))
        kinds = [Clumsy(host, ContractSettings(), clock)]
        laneway = Laneway(open_store(str(tmp_path / "q.db"), clock), kinds, clock)
        await laneway.__aenter__()
        waits = await laneway.submit("Qm1", "d")
        await waits.result(5)
        stops, stop = [], laneway.engine.stop

        async def noted() -> None:
            await stop()
            stops.append("stopped")

        monkeypatch.setattr(laneway.engine, "stop", noted)
        with pytest.raises(ZeroDivisionError, match="close"):
            await laneway.close()
        assert await laneway.close()
        assert stops == ["stopped"]
        with pytest.raises(EngineStopped):
            laneway.check()
        async with open_at(tmp_path):
            pass

    asyncio.run(main())


def test_a_file_that_is_in_use_is_refused_with_its_owner_and_left_alone(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_at(tmp_path) as laneway:
            with pytest.raises(StoreRefused, match="pid"):
                open_at(tmp_path)
            assert (await (await laneway.submit("Qm1", "d")).result(5)).block == 1

    asyncio.run(main())


def test_a_start_that_fails_leaves_the_file_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> Any:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.set_exception(StoreBusy("locked"))
        return future

    async def main() -> None:
        laneway = open_at(tmp_path)
        monkeypatch.setattr(laneway.store, "ready", busy)
        with pytest.raises(StoreBusy):
            async with laneway:
                raise AssertionError("it must not be entered")
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others, "no heart beats on"
        async with open_at(tmp_path):
            pass

    asyncio.run(main())


@pytest.mark.parametrize("path", ["/nonexistent/folder/q.db", "/proc/q.db"])
def test_a_path_that_cannot_be_opened_is_said_at_once(path: str) -> None:
    with pytest.raises(StoreError) as refused:
        Laneway.open(path, EmbeddedHost(ContractChain()))
    assert path in str(refused.value)


def test_the_host_says_what_the_lane_may_rely_on() -> None:
    async def nothing(call: ContractCall, parent: int) -> int:
        return parent + 1

    wrong = ContractSettings(takes_parent=True, has_chain=True)
    laneway = Laneway(
        GroupStore(MemoryBook(), SystemClock()),
        [ContractServed(CallableHost(nothing), wrong, SystemClock())],
        SystemClock(),
    )
    assert (laneway.contracts.settings.takes_parent, laneway.contracts.settings.has_chain) == (
        False,
        False,
    )


def test_retention_is_handed_to_the_heart(tmp_path: Path) -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=1))
        kept = Retention(intents_ms=5, feed_ms=5)
        async with Laneway.open(str(tmp_path / "q.db"), host, retention=kept) as laneway:
            assert laneway.engine._heart._retention == kept

    asyncio.run(main())


def test_the_rows_that_are_shown_can_be_written_as_json() -> None:
    async def main() -> None:
        host = EmbeddedHost(ContractChain(round_ms=1))
        async with Laneway.open(":memory:", host) as laneway:
            handle = await laneway.submit("Qm1", "d")
            shown = [await handle.result(5), await laneway.lanes(), await laneway.show(handle.id)]
            assert b'"fast_hits":1' in msgspec.json.encode(shown)

    asyncio.run(main())
