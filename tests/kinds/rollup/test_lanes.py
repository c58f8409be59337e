"""Laws of rollups' lanes: what they need comes from their chain, and each problem is told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.kinds.rollup.stage import LANE, built, laneway_on, made, run, table
from tests.relay import Relay
from tests.rollup_stage import Judge, Purse

from laneway.builder.packages import NULL_AUTHORIZER, Authorizer
from laneway.chains.jam.clock import JAM_ERA_MS
from laneway.core.errors import BadRequest, LaneNotFound, StoreRefused
from laneway.core.ids import LaneId
from laneway.devnets.jam.devnet import JamDevnet, rollup_service
from laneway.devnets.jam.model.values import ModelSetup, ServiceSetup, SubmissionRefusal
from laneway.engine.system import SystemClock
from laneway.jam.package import WORK_PACKAGE
from laneway.kinds.config import ConfigError
from laneway.kinds.rollup import lanes as rollup
from laneway.kinds.rollup import service as service_module
from laneway.kinds.rollup.lanes import builder_path, open_chain, places_of
from laneway.kinds.rollup.section import BundleSection
from laneway.kinds.rollup.service import authorizer_of
from laneway.lanes.bundle.rows import Tell
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.refine import LedgerService
from laneway.wire.values import Check
from laneway.wiring.readiness import ReadinessProbe

pytestmark = pytest.mark.slow


# Opening.


def test_a_rollup_is_opened_with_what_its_chain_says() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet, max_inflight=2) as lw:
            lanes = lw.rollups.lanes
            assert lanes is not None
            assert lanes.lanes() == [LANE]
            shown = lanes.account(LaneId(LANE))
            assert (shown.name, shown.kind, shown.service) == ("main", "ledger", 1)
            settings = shown.settings
            assert (settings.cores, settings.max_inflight, settings.first_number) == ((0, 1), 2, 1)
            assert (settings.slot_ms, settings.rotation_slots) == (600_000, 4)
            assert settings.nodes == shown.chain.nodes
            assert built(lanes).state().account(DEV_ACCOUNTS[0].id).balance == BALANCE_DEV
            assert lanes.devnet is None
            assert lanes.lines("http://x") == [
                f"rollup      rollup:1 (main) on {shown.chain.nodes[0]}"
            ]

    run(story)


def test_a_lane_is_named_by_its_service_or_its_name() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            lanes = lw.rollups.lanes
            assert lanes is not None
            assert lanes.lane("rollup:1") == lanes.lane("rollup:main") == LANE
            for text in ("rollup:2", "rollup:", "evm:main", "main"):
                with pytest.raises(LaneNotFound):
                    lanes.lane(text)
            with pytest.raises(LaneNotFound):
                lanes.account(LaneId("rollup:2"))

    run(story)


def test_a_new_lane_goes_on_behind_what_its_service_has(tmp_path: Path) -> None:
    """Another database, and so another builder, that begins where the first one left it."""

    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            purse = Purse(devnet.model.genesis)
            async with laneway_on(devnet, tmp_path / "a.db") as lw:
                for handle in await lw.transfer_many(LANE, purse.transfers(3)):
                    assert (await handle.result(60)).block == 1
            more = {"genesis": devnet.model.genesis.hex()}
            async with laneway_on(devnet, tmp_path / "b.db", **more) as lw:
                assert lw.rollups.lanes is not None
                assert lw.rollups.lanes.settings[LaneId(LANE)].first_number == 2
                done = await (await lw.transfer(LANE, purse.transfer())).result(60)
                assert (done.status, done.block) == ("confirmed", 2)

    run(story)


def test_a_chain_that_is_silent_does_not_keep_the_door_shut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollup, "CHAIN_OPEN_S_MAX", 0.3)

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1_024):
            pass
        writer.close()
        await writer.wait_closed()
        gone.set()

    gone = asyncio.Event()

    async def story() -> None:
        async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with made(":memory:", table(f"ws://127.0.0.1:{port}")) as lw:
                reason = (await lw.lane(LANE)).reason
                assert reason.startswith("no node of its chain could be reached since ")
                assert "no answer within 0.3 s" in reason
            await gone.wait()

    run(story)


def test_a_chain_that_comes_a_little_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollup, "CHAIN_OPEN_RETRY_S", 0.05)

    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet:
            await devnet.stop_node(0)
            opening = asyncio.create_task(laneway_on(devnet).__aenter__())
            await asyncio.sleep(0.2)
            await devnet.start_node(0)
            laneway = await opening
            assert laneway.rollups.lanes is not None
            assert laneway.rollups.lanes.lanes() == [LANE]
            await laneway.close()

    run(story)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"service": 9}, "main: there is no service 9 on its chain - at `$.rollup`"),
        ({"cores": [0, 2]}, "main: the chain has cores 0 to 1, and not 2 - at `$.rollup`"),
        ({"genesis": "00" * 32}, "main: service 1 is no ledger of a chain that began with 0000"),
        ({"words": [["odd", "x"]]}, "main: rollup.main.words: "),
    ],
)
def test_a_table_that_does_not_fit_its_chain_is_told(more: dict[str, object], problem: str) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet:
            with pytest.raises(ConfigError) as caught:
                async with laneway_on(devnet, ":memory:", **more):
                    pass
            assert str(caught.value).startswith(f"laneway: {problem}")

    run(story)


def test_a_service_that_is_no_ledger_is_told() -> None:
    async def story() -> None:
        service = ServiceSetup(service=LedgerService(bytes(32)), storage={})
        async with JamDevnet(slot_ms=0, services={1: service}) as devnet:
            with pytest.raises(ConfigError, match="service 1 is no ledger: it holds no genesis"):
                async with laneway_on(devnet):
                    pass

    run(story)


def test_a_builders_file_stands_beside_the_database() -> None:
    assert builder_path(table("ws://n"), "a/b.db") == "a/b.db-rollup-1"
    assert builder_path(table("ws://n"), "redis://h") == "laneway.db-rollup-1"
    assert builder_path(table("ws://n"), ":memory:") is None
    assert builder_path(table("ws://n", builder="x"), ":memory:") == "x"


def test_a_calendar_is_the_era_or_a_moment() -> None:
    async def story() -> None:
        for calendar, era_ms in ((True, JAM_ERA_MS), (5_000, 5_000), (False, None)):
            section = table("ws://n", calendar=calendar)
            chain = open_chain(section, places_of(section), SystemClock())
            assert chain._arrivals._era_ms == era_ms

    run(story)


def test_a_node_is_opened_as_its_table_says() -> None:
    node = {"url": "ws://n:1", "name": "a", "calls_per_s": 5.0, "takes_packages": False}
    (place,) = places_of(table(node))  # type: ignore[arg-type]
    assert (place.url, place.name, place.calls_per_s, place.takes_packages) == (
        "ws://n:1", "a", 5.0, False,
    )  # fmt: skip


# A chain that began anew.


def test_a_chain_that_began_anew_is_told_instead_of_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "l.db"

    async def first() -> bytes:
        async with JamDevnet(slot_ms=100) as devnet, laneway_on(devnet, path) as lw:
            raw = Purse(devnet.model.genesis).transfer()
            assert (await (await lw.transfer(LANE, raw)).result(60)).is_confirmed()
            return raw

    async def second() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            with pytest.raises(ConfigError, match="saw block 1 of rollup:1 final, and its chain h"):
                async with laneway_on(devnet, path):
                    pass
            (tmp_path / "l.db-rollup-1").unlink()
            # The same number, and another block: who else sends to this ledger does not matter.
            async with laneway_on(devnet, tmp_path / "other.db") as lw:
                raws = Purse(devnet.model.genesis, 1).transfers(2)
                for handle in await lw.transfer_many(LANE, raws):
                    assert (await handle.result(60)).is_confirmed()
            with pytest.raises(ConfigError, match="its chain has another one: it is another chain"):
                async with laneway_on(devnet, path, genesis=devnet.model.genesis.hex()):
                    pass

    run(first)
    run(second)


def test_a_builders_file_that_is_none_is_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet, tmp_path / "a.db"):
            pass
        (tmp_path / "a.db-rollup-1").write_bytes(b"no database at all" * 100)
        async with JamDevnet(slot_ms=0) as devnet:
            with pytest.raises(StoreRefused):
                async with laneway_on(devnet, tmp_path / "a.db"):
                    pass

    run(story)


def test_a_node_that_has_to_catch_up_says_nothing_of_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "l.db"

    async def first() -> None:
        async with JamDevnet(slot_ms=100) as devnet, laneway_on(devnet, path) as lw:
            raw = Purse(devnet.model.genesis).transfer()
            await (await lw.transfer(LANE, raw)).result(60)

    async def second() -> None:
        async def behind(_chain: object) -> bool:
            return True

        monkeypatch.setattr(service_module, "is_behind", behind)
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet, path) as lw:
            assert lw.rollups.lanes is not None

    run(first)
    run(second)


def test_a_builders_file_that_is_gone_costs_nobody_an_account(tmp_path: Path) -> None:
    path = tmp_path / "l.db"

    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            purse = Purse(devnet.model.genesis, senders=1)
            async with laneway_on(devnet, path) as lw:
                assert (await (await lw.transfer(LANE, purse.transfer())).result(60)).is_confirmed()
            (tmp_path / "l.db-rollup-1").unlink()
            async with laneway_on(devnet, path, genesis=devnet.model.genesis.hex()) as lw:
                assert lw.rollups.lanes is not None
                builder = built(lw.rollups.lanes)
                assert (builder.state().account(DEV_ACCOUNTS[0].id).nonce, builder.lag) == (1, "")

    run(story)


def test_a_builder_that_has_no_orders_follows_in_the_chains_own_pace() -> None:
    async def story() -> None:
        async with (
            JamDevnet(slot_ms=100) as devnet,
            laneway_on(devnet) as idle,
            laneway_on(devnet) as lw,
        ):
            raw = Purse(devnet.model.genesis, senders=1).transfer()
            assert (await (await lw.transfer(LANE, raw)).result(60)).is_confirmed()
            assert idle.rollups.lanes is not None
            builder = built(idle.rollups.lanes)
            while builder.state().account(DEV_ACCOUNTS[0].id).nonce == 0:
                await asyncio.sleep(0.02)
            assert builder.heads.final.sealed.number == 1

    run(story)


# What is told.


def test_readiness_says_whether_the_chain_can_be_reached() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            devnet.say("dev_produce")
            *_, found = await ReadinessProbe(lw).checks()
            assert found == Check("rollup:1", True, "at slot 1")
            await devnet.stop_node(0)
            *_, found = await ReadinessProbe(lw).checks()
            assert (found.name, found.ok) == ("rollup:1", False)
            assert "cannot be reached" in found.what

    run(story)


def test_readiness_says_that_the_chain_is_not_the_lanes_own() -> None:
    """A node that was replaced by one of a chain of the same sizes."""

    async def story() -> None:
        async with (
            JamDevnet(slot_ms=100) as devnet,
            JamDevnet(slot_ms=100) as other,
            Relay(port_of(devnet.url)) as relay,
            made(":memory:", table(f"ws://127.0.0.1:{relay.port}", slot_ms=100)) as lw,
        ):
            assert lw.rollups.lanes is not None
            raw = Purse(devnet.model.genesis).transfer()
            await (await lw.transfer(LANE, raw)).result(60)
            assert (await lw.rollups.lanes.checks(lw.store))[0].ok
            relay.point(port_of(other.url))
            found = Check("", False, "cannot be reached")
            while "final" not in found.what:  # Until it has connected again.
                (found,) = await lw.rollups.lanes.checks(lw.store)
            assert "saw block 1 of rollup:1 final, and its chain has none" in found.what
            assert "name nodes of its chain" in found.what

    run(story)


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].strip("/"))


def test_readiness_says_that_clocks_are_apart() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet, calendar=True) as lw:
            *_, found = await ReadinessProbe(lw).checks()
            assert not found.ok
            assert "the clock is off by" in found.what

    run(story)


def test_readiness_does_not_wait_for_a_chain_that_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollup, "PROBE_S_MAX", 0.05)

    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            assert lw.rollups.lanes is not None
            chain = lw.rollups.lanes.account(LaneId(LANE)).chain
            monkeypatch.setattr(chain, "head", lambda: asyncio.sleep(5))
            (found,) = await lw.rollups.lanes.checks(lw.store)
            assert found == Check("rollup:1", False, "the chain gave no answer within 0.05 s")

    run(story)


def test_callbacks_hear_of_blocks_in_their_order() -> None:
    async def story() -> None:
        heard: list[tuple[str, str, int]] = []
        later: list[str] = []
        failures = iter([True, False])

        def plain(lane: LaneId, tell: Tell) -> None:
            heard.append((lane, tell.word, tell.number))
            if next(failures, False):
                raise OSError("not now")

        async def slow(_lane: LaneId, tell: Tell) -> None:
            await asyncio.sleep(0)
            later.append(tell.word)

        async with JamDevnet(slot_ms=100) as devnet, laneway_on(devnet) as lw:
            lw.on_block(plain)
            lw.on_block(slow)
            raw = Purse(devnet.model.genesis).transfer()
            await (await lw.transfer(LANE, raw)).result(60)
            while "finalised" not in later:
                await asyncio.sleep(0.05)
        # One that failed is called again, and none after it before. A guarantee may pass between
        # two looks, and an accumulation may be taken back.
        assert heard[:2] == [(LANE, "submitted", 1), (LANE, "submitted", 1)]
        assert later == [word for _, word, _ in heard[1:]]
        assert later[-2:] == ["accumulated", "finalised"]

    run(story)


def test_without_a_rollup_there_is_nothing_to_hear() -> None:
    async def story() -> None:
        lw = made(":memory:")
        lw.rollups.lanes = None
        with pytest.raises(BadRequest, match="no rollup is configured here"):
            lw.on_block(lambda _lane, _tell: None)
        await lw.close()

    run(story)


def test_a_lane_is_paused_by_its_name() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            await lw.pause("rollup:main", reason="lunch", by="me")
            health = await lw.health("rollup:main")
            assert health.lane == LANE

    run(story)


# From the door to finality.


def test_transfers_are_confirmed_once_and_in_order_over_a_restart(tmp_path: Path) -> None:
    """The devnet lives on while the process that sends to it ends and starts again."""

    async def story() -> None:
        async with JamDevnet(slot_ms=300) as devnet:
            judge, purse = Judge(devnet.say), Purse(devnet.model.genesis)
            raws = purse.transfers(20)
            path = tmp_path / "l.db"
            async with laneway_on(devnet, path) as lw:
                handles = [await lw.transfer(LANE, raw, key=f"k{n}") for n, raw in
                           enumerate(raws[:12])]  # fmt: skip
                assert (await handles[0].result(60)).is_confirmed()
                handles += await lw.transfer_many(LANE, raws[12:])
            async with laneway_on(devnet, path) as lw:
                again = [await lw.transfer(LANE, raw) for raw in raws]
                assert [one.id for one in again] == [one.id for one in handles]
                assert all(one.replayed for one in again)
                done = [await one.result(60) for one in again]
                assert {one.status for one in done} == {"confirmed"}
                assert {one.hash is None for one in done} == {False}
                blocks = [one.block or 0 for one in done]
                assert blocks == sorted(blocks)
                audit = judge.audit(raws)
                assert audit.problems == []
                assert audit.total == 20
                assert lw.rollups.lanes is not None
                builder = built(lw.rollups.lanes)
                for account, (balance, nonce) in audit.accounts.items():
                    found = builder.state().account(account)
                    assert (found.balance, found.nonce) == (balance, nonce)

    run(story)


def test_a_seeds_settings_carry_transfers_too(tmp_path: Path) -> None:
    from msgspec import convert

    from laneway.kinds.rollup.section import preset_of

    async def story(name: str) -> None:
        section = convert(preset_of(name), BundleSection)
        async with JamDevnet(slot_ms=100) as devnet:
            judge, raws = Judge(devnet.say), Purse(devnet.model.genesis).transfers(6)
            one = table(devnet.url, slot_ms=100)
            async with made(str(tmp_path / name), one, section=section) as lw:
                for handle in await lw.transfer_many(LANE, raws):
                    assert (await handle.result(60)).is_confirmed()
            assert judge.audit(raws).problems == []

    for name in ("seed-000", "seed-001"):
        run(lambda name=name: story(name))  # type: ignore[misc]


# Settings of the builder.


def test_an_authorizer_is_in_every_package() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            handed: list[bytes] = []
            submit = devnet.model.submit

            def noted(
                node: int, core: int, package: bytes, extrinsics: Sequence[bytes] = ()
            ) -> SubmissionRefusal | None:
                handed.append(package)
                return submit(node, core, package, extrinsics)

            devnet.model.submit = noted  # type: ignore[method-assign]
            chosen = {"host": 9, "code_hash": "ab" * 32, "config": "0x01", "authorization": "0203"}
            async with laneway_on(devnet, authorizer=chosen) as lw:
                await lw.transfer(LANE, Purse(devnet.model.genesis).transfer())
                while not handed:
                    await asyncio.sleep(0.02)
            package = WORK_PACKAGE.decode(handed[0])
            assert (package.auth_code_host, package.auth_code_hash) == (9, b"\xab" * 32)
            assert (package.authorizer_config, package.authorization) == (b"\1", b"\2\3")

    run(story)


def test_without_one_the_authorizer_of_development_networks_is_named() -> None:
    assert authorizer_of(table("ws://n")) == Authorizer(host=1, code_hash=NULL_AUTHORIZER)


def test_so_many_final_blocks_are_kept_as_was_set() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet, laneway_on(devnet, blocks_kept=1) as lw:
            assert lw.rollups.lanes is not None
            purse = Purse(devnet.model.genesis, senders=1)
            for _ in range(2):
                handle = await lw.transfer(LANE, purse.transfer())
                assert (await handle.result(60)).is_confirmed()
            reads = lw.rollups.lanes.account(LaneId(LANE)).reads
            while await reads.block(1) is not None:
                await asyncio.sleep(0.02)
            newest = await reads.block(2)
            assert newest is not None
            assert newest.is_final
            receipts = [await reads.receipt(await reads.hash_of(raw)) for raw in purse.made[:2]]
            assert [one and (one.number, one.is_final) for one in receipts] == [
                (1, True),
                (2, True),
            ]

    run(story)


def test_two_rollups_that_turn_out_to_be_on_one_chain_claim_no_core_twice() -> None:
    async def story() -> None:
        plain = ModelSetup(nodes=2)
        services = {1: rollup_service(plain), 2: rollup_service(plain)}
        async with JamDevnet(slot_ms=0, setup=replace(plain, services=services)) as devnet:
            one = table(devnet.urls[0], cores=[0])
            apart = table(devnet.urls[1], name="other", service=2, cores=[1])
            async with made(":memory:", one, apart) as lw:
                assert lw.rollups.lanes is not None
                assert lw.rollups.lanes.lanes() == ["rollup:1", "rollup:2"]
            other = table(devnet.urls[1], name="other", service=2)
            with pytest.raises(ConfigError, match="both claim core 0; give each of them `cores`"):
                async with made(":memory:", one, other):
                    pass

    run(story)
