"""Laws of the journal: a chain that starts again is the one that ended, or says why it is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.rollup_stage import Purse

from laneway.core.errors import StoreRefused
from laneway.devnets.jam import journal
from laneway.devnets.jam.devnet import JamDevnet, rollup_service
from laneway.devnets.jam.journal import Journal
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.genesis import rollup_authorizers
from laneway.devnets.jam.model.values import ModelSetup
from laneway.devnets.jam.node.host import JamHost
from laneway.devnets.jam.node.rpc import ask
from laneway.wire.rpc_server.methods import RpcRefused


def fresh(**more: object) -> JamHost:
    setup = ModelSetup()
    services = {ROLLUP_SERVICE_DEV: rollup_service(setup)}
    return JamHost(ModelSetup(services=services, **more), slot_ms=0)  # type: ignore[arg-type]


@contextmanager
def opened(path: Path, host: JamHost | None = None) -> Iterator[tuple[JamHost, int]]:
    host = host or fresh()
    kept = Journal(str(path))
    count = kept.load(host)
    try:
        yield host, count
    finally:
        kept.close()


def step(host: JamHost, count: int = 1) -> None:
    """As the clock does."""
    for _ in range(count):
        host._fire()


def state(host: JamHost) -> tuple[object, ...]:
    model = host.model
    best = model.best(0)
    return best, model.slot, model.finalized(0), model.state(0, best.header_hash), model.waiting()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chain"


def test_a_chain_goes_on_where_it_ended(path: Path) -> None:
    with opened(path) as (host, count):
        assert count == 0
        step(host, 5)
        ask(host, 0, "dev_fault", ["skipped_slots", [7]])
        ask(host, 0, "dev_produce", [{"slot": 9}])
        ask(host, 0, "dev_partition", [[[0, 1], [2, 3, 4, 5]]])
        step(host, 3)
        ask(host, 0, "dev_heal", [])
        step(host, 12)
        before = state(host)
    with opened(path) as (host, count):
        assert count == 24
        assert state(host) == before
        step(host, 3)
        after = state(host)
    with opened(path) as (host, count):
        assert (count, state(host)) == (27, after)


def test_packages_are_handed_in_again(path: Path) -> None:
    """What they carry is no package here, and is refused again; the slots stand behind it."""
    with opened(path) as (host, _):
        raw = Purse(host.model.genesis).transfer()
        with pytest.raises(RpcRefused):
            ask(host, 0, "submitWorkPackage", [0, journal_text(raw), []])
        step(host)
        before = state(host)
    with opened(path) as (host, count):
        assert (count, state(host)) == (2, before)


def journal_text(raw: bytes) -> str:
    from laneway.wire.jip2 import blob

    return blob(raw)


def test_questions_are_not_written(path: Path) -> None:
    with opened(path) as (host, _):
        size = path.stat().st_size
        ask(host, 0, "bestBlock", [])
        ask(host, 0, "dev_state", [ask(host, 0, "bestBlock", [])["header_hash"]])  # type: ignore[index]
        with pytest.raises(RpcRefused, match="Invalid params"):
            ask(host, 0, "dev_produce", ["now"])
        assert path.stat().st_size == size


def test_what_a_crash_tore_off_is_cut_away(path: Path) -> None:
    with opened(path) as (host, _):
        step(host, 4)
        before = state(host)
    whole = path.read_bytes()
    for torn in (b'["22', b'["22e5",0]\n', b"no JSON\n"):
        path.write_bytes(whole + torn)
        with opened(path) as (host, count):
            assert (count, state(host)) == (4, before)
        assert path.read_bytes() == whole


def test_a_file_that_was_never_begun_is_begun(path: Path) -> None:
    path.write_bytes(b'{"gen')
    with opened(path) as (host, count):
        assert count == 0
        step(host)
    with opened(path) as (_, count):
        assert count == 1


def test_another_file_is_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"my diary\n")
    with pytest.raises(StoreRefused, match="no chain of a JAM devnet; begin anew"), opened(path):
        pass
    assert path.read_bytes() == b"my diary\n"


def test_a_chain_that_is_set_up_otherwise_is_another(path: Path) -> None:
    with opened(path):
        pass
    with (
        pytest.raises(StoreRefused, match="another chain than this version makes"),
        opened(path, fresh(nodes=2)),
    ):
        pass


def test_a_chain_that_goes_another_way_is_told(path: Path) -> None:
    with opened(path) as (host, _):
        step(host, 3)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(StoreRefused, match="goes another way in this version"), opened(path):
        pass


def test_a_chain_with_too_many_calls_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as (host, _):
        step(host, 3)
    monkeypatch.setattr(journal, "CALLS_KEPT_MAX", 2)
    with pytest.raises(StoreRefused, match="more than 2 calls"), opened(path):
        pass


def test_a_closed_journal_hears_nothing(path: Path) -> None:
    with opened(path) as (host, _):
        pass
    step(host)
    kept = Journal(str(path))
    kept.close()
    with opened(path) as (_, count):
        assert count == 0


OWN, ANOTHER = bytes([1]) * 32, bytes([2]) * 32


def kept_devnet(path: Path, *authorizers: bytes) -> JamDevnet:
    return JamDevnet(slot_ms=0, journal=Journal(str(path)), authorizers=authorizers)


def test_a_chain_goes_on_with_the_authorizers_that_it_began_with(path: Path) -> None:
    """Also one of an earlier release, which began with none: its title names none, and its states
    would be others with a list."""
    for began_with, title in (((OWN,), OWN.hex()), ((), '"nodes":1}')):
        path.unlink(missing_ok=True)
        with opened(path, kept_devnet(path, *began_with)._host) as (host, _):
            step(host, 3)
            before = state(host)
        assert title in path.read_text().splitlines()[0]
        later = kept_devnet(path, ANOTHER)
        assert rollup_authorizers(later.model.setup) == began_with
        with opened(path, later._host) as (host, count):
            assert (count, state(host)) == (3, before)


def test_a_chain_that_begins_has_the_authorizers_that_are_asked_for(path: Path) -> None:
    assert rollup_authorizers(kept_devnet(path, OWN).model.setup) == (OWN,)
    no_hash = b'{"genesis":"","spec":"","nodes":1,"authorizers":["x"]}\n'
    for torn in (b'{"gen', b"my diary\n", no_hash):
        path.write_bytes(torn)
        assert rollup_authorizers(kept_devnet(path, OWN).model.setup) == (OWN,)


async def started(path: Path) -> tuple[int, bytes]:
    async with JamDevnet(slot_ms=0, journal=Journal(str(path))) as devnet:
        for _ in range(3):
            devnet.say("dev_produce")
        return devnet.replayed_count, devnet.model.best(0).header_hash


def test_a_devnet_with_a_journal_plays_it_again(path: Path) -> None:
    import asyncio

    first, best = asyncio.run(started(path))
    again, later = asyncio.run(started(path))
    assert (first, again) == (0, 3)
    assert best != later
