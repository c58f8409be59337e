"""Laws of retrying: only what is proven dead, at most one in its place, for ever linked."""

import asyncio
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.client.stage import KINDS, either, proxied
from tests.server.stage import Client, Heard, running, serving

from laneway.chains.contract_callable import Refuse
from laneway.kinds.arrivals import RETRY_SCOPE
from laneway.server.access import Key

LANE = "contract:Qm1"
PAST = "2001-01-01T00:00:00Z"
WHY = {"reason": "wanted after all"}


async def retry(client: Client, intent: str, **more: Any) -> Heard:
    return await client.post(f"/v1/transactions/{intent}/retry", WHY | more)


async def expired(client: Client, data: str = "transfer 5") -> str:
    intent = str((await client.send(data, valid_until=PAST))["id"])
    assert (await client.finish(intent))["status"] == "expired"
    return intent


def test_an_expired_one_gets_one_successor_that_names_it() -> None:
    async def main() -> None:
        async with serving() as client:
            old = await expired(client)
            heard = await retry(client, old)
            assert heard.status == 200
            assert (heard.body["action"], heard.body["outcome"]) == ("retry", "done")
            new = heard.body["tx"]
            assert new["id"] != old
            assert (new["retry_of"], new["idempotency_key"]) == (old, None)
            assert (new["payload"]["data"], new["valid_until"]) == ("transfer 5", None)
            done = await client.finish(new["id"])
            assert (done["status"], done["retry_of"]) == ("confirmed", old)
            # The old one keeps its word.
            assert (await client.get(f"/v1/transactions/{old}")).body["status"] == "expired"

    asyncio.run(main())


def test_asked_many_times_at_once_and_later_it_is_one_successor() -> None:
    async def main() -> None:
        async with serving() as client:
            old = await expired(client)
            heard = await asyncio.gather(*(retry(client, old) for _ in range(20)))
            made = {each.body["tx"]["id"] for each in heard}
            assert len(made) == 1
            await client.finish(next(iter(made)))
            again = await retry(client, old)
            assert again.body["tx"]["id"] in made
            assert "was queued again" in again.body["effect"]
            listed = await client.get(f"/v1/transactions?lane={LANE}")
            assert len(listed.body["items"]) == 2

    asyncio.run(main())


def test_what_is_open_confirmed_or_unknown_is_not_retried() -> None:
    async def main() -> None:
        async with serving() as client:
            done = (await client.send())["id"]
            await client.finish(done)
            heard = await retry(client, done)
            assert (heard.status, heard.code, heard.body["tx"]) == (409, "retry_refused", done)
            assert "confirmed" in heard.body["detail"]
            assert (await retry(client, "tx_" + "0" * 32)).status == 404
            assert (await client.post(f"/v1/transactions/{done}/retry", {})).status == 422
        async with serving(host__round_ms="60000") as client:
            first, second = [(await client.send())["id"] for _ in range(2)]
            for intent in (first, second):
                heard = await retry(client, intent)
                assert (heard.status, heard.code) == (409, "retry_refused")
                assert "not final" in heard.body["detail"]
            await client.post(f"/v1/transactions/{second}/cancel", WHY)
            heard = await retry(client, second)
            assert heard.body["tx"]["retry_of"] == second

    asyncio.run(main())


def test_an_indeterminate_one_is_never_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with running() as (up, client):
            old = await expired(client)
            read = up.laneway.store.intent

            async def doubtful(intent: Any) -> Any:
                view = await read(intent)
                assert view is not None
                assert view.result is not None
                result = type(view.result)(view.result.intent, "indeterminate", 1)
                return type(view)(view.intent, result, view.open)

            monkeypatch.setattr(up.laneway.store, "intent", doubtful)
            heard = await retry(client, old)
            assert (heard.status, heard.code) == (409, "retry_refused")

    asyncio.run(main())


def test_a_refused_one_and_its_refused_successor_are_retried_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(_call: object, _parent: int) -> None:
        raise Refuse("no funds")

    module = ModuleType("host_that_refuses")
    module.refuse = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "host_that_refuses", module)

    async def main() -> None:
        host = {"host__kind": "callable", "host__callable": "host_that_refuses:refuse"}
        async with serving(**host) as client:
            line = [(await client.send())["id"]]
            for _ in range(3):
                assert (await client.finish(line[-1]))["status"] == "refused"
                line.append((await retry(client, line[-1])).body["tx"]["id"])
            assert len(set(line)) == 4
            shown = [(await client.get(f"/v1/transactions/{each}")).body for each in line]
            assert [tx["retry_of"] for tx in shown] == [None, *line[:-1]]

    asyncio.run(main())


def test_a_dry_run_queues_nothing() -> None:
    async def main() -> None:
        async with serving() as client:
            old = await expired(client)
            heard = await retry(client, old, dry_run=True)
            assert (heard.status, heard.body["outcome"]) == (200, "would")
            listed = await client.get(f"/v1/transactions?lane={LANE}")
            assert len(listed.body["items"]) == 1

    asyncio.run(main())


def test_the_link_and_the_once_survive_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        file = {"store__path": str(tmp_path / "q.db"), "store__durability": "full"}
        async with serving(**file) as client:
            old = await expired(client)
            new = (await retry(client, old)).body["tx"]["id"]
        async with serving(**file) as client:
            assert (await retry(client, old)).body["tx"]["id"] == new
            assert (await client.get(f"/v1/transactions/{new}")).body["retry_of"] == old

    asyncio.run(main())


def test_what_retention_removed_cannot_be_retried_and_a_removed_successor_still_counts() -> None:
    async def main() -> None:
        async with running() as (up, client):
            old = await expired(client)
            await client.finish((await retry(client, old)).body["tx"]["id"])
            # Two transactions, and the two entries of the audit trail.
            assert await up.laneway.store.prune(1 << 50, 0, 100) == 4
            heard = await retry(client, old)
            assert (heard.status, heard.code) == (409, "retry_refused")
            assert "retention" in heard.body["detail"]

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_answer_to_a_retry_does_not_double(kind: str) -> None:
    async def main() -> None:
        async with serving() as client, proxied(client.url, drops=2) as proxy:
            old = await expired(client)
            async with either(kind, proxy.url) as caller:
                action = await caller.retry(old, reason="lost twice")
            assert proxy.asked == 3
            assert action.tx.retry_of == old
            listed = await client.get(f"/v1/transactions?lane={LANE}")
            assert len(listed.body["items"]) == 2

    asyncio.run(main())


def test_no_api_key_can_have_the_name_of_the_retries_scope() -> None:
    import msgspec

    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"id": RETRY_SCOPE, "sha256": "0" * 64}, Key)
