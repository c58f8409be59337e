"""A user's own program: the library with lanes of a kind that laneway does not know. It is run in a
process of its own, by test_stores.py; whatever is not as it should be raises."""

import asyncio
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

from laneway import Laneway
from laneway.core.errors import BadRequest, CommandUnfit, IntentConflict, LanewayError


async def raises(error: type[LanewayError], asked: Awaitable[Any]) -> str:
    try:
        await asked
    except error as found:
        return str(found)
    raise AssertionError(f"{error.__name__} was not raised")


async def main(folder: Path) -> None:
    async with Laneway.configured(str(folder / "laneway.toml")) as lw:
        # One verb and one handle for every kind.
        one = await lw.submit("counter:a", {"add": 5, "note": "first"}, key="one")
        same = await lw.submit("counter:a", {"add": 5}, key="one", note="first")
        assert (same.id, same.replayed) == (one.id, True)
        await raises(IntentConflict, lw.submit("counter:a", {"add": 6}, key="one"))
        assert "`int`" in await raises(BadRequest, lw.submit("counter:a", {"add": "x"}))
        await raises(BadRequest, lw.submit("counter:a", {"less": 1}))
        done = await one.result(30)
        assert (done.status, done.block) == ("confirmed", 0)
        refused = await lw.submit("counter:a", {"add": 5_000})
        assert (await refused.result(30)).status == "refused"
        many = [await lw.submit(f"counter:{n % 3}", {"add": n}, key=f"k{n}") for n in range(30)]
        assert {(await each.result(30)).status for each in many} == {"confirmed"}

        # What is shown.
        shown = await lw.show(one.id)
        assert shown.details == {"add": 5, "note": "first", "attempts": 1}
        assert (await lw.show("counter:a#0")).id == one.id
        lanes = {lane.id: lane for lane in await lw.lanes()}
        assert {"counter:a", "counter:0", "counter:1", "counter:2"} <= set(lanes)
        assert lanes["counter:a"].details == {"total": 5, "retry_ms": 100}
        assert lanes["counter:2"].queue.executed == 10
        health = await lw.health("counter:a")
        assert (health.healthy, health.details) == (True, {"total": 5, "retry_ms": 100})

        # Commands: those of all kinds, and its own.
        await lw.pause("counter:a", reason="a look")
        waits = await lw.submit("counter:a", {"add": 1}, key="waits")
        for _ in range(3_000):
            if (await lw.lane("counter:a")).state == "paused":
                break
            await asyncio.sleep(0.02)
        assert "paused" in (await lw.show(waits.id)).reason
        await waits.cancel(reason="not any more")
        assert (await waits.result(30)).status == "cancelled"
        await lw.resume("counter:a")
        await lw.command_lane("counter:a", "tune", 250)
        contract = await lw.submit("Qm1", "x")
        await raises(CommandUnfit, lw.command(contract.id, "hurry"))

        # An answer that is not known is asked for, and never done twice.
        (folder / "counters" / "b").mkdir()
        stuck = await lw.submit("counter:b", {"add": 7}, key="stuck")
        for _ in range(3_000):
            if (await lw.show(stuck.id)).status == "submitted":
                break
            await asyncio.sleep(0.02)
        assert not (await lw.show(stuck.id)).final
        (folder / "counters" / "b").rmdir()
        await stuck.result(30)
    for name, count in (("a", 1), ("b", 1), ("0", 10), ("1", 10), ("2", 10)):
        lines = (folder / "counters" / name).read_text().splitlines()
        assert len(lines) == count, (name, lines)

    # The next life knows what the first one did.
    async with Laneway.configured(str(folder / "laneway.toml")) as lw:
        if lw.store.durability.value != "memory":
            assert (await lw.submit("counter:a", {"add": 5, "note": "first"}, key="one")).replayed
            found = (await lw.lane("counter:a")).details
            assert found == {"total": 5, "retry_ms": 250}, found


asyncio.run(main(Path(sys.argv[1])))
print("all as it should be")
