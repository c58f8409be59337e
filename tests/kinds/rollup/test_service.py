"""Laws of what a chain says of a service: a ledger with its head, or why it is none."""

import pytest
from tests.canary import SECRET, Witness
from tests.jip2_relay import Jip2Relay
from tests.kinds.rollup.stage import run, table
from tests.kinds.rollup.test_section import SIZES

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.chains.nodes import AnswerUnconfirmed
from laneway.core.errors import ChainUnreachable, ChainUnreadable
from laneway.core.jam import SyncState
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.model.values import ServiceSetup
from laneway.engine.system import SystemClock
from laneway.jam.authorizers import SIGNED_AUTHORIZER
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.service.commitment import HEAD_KEY, block_key
from laneway.jam.service.values import ServiceHead
from laneway.kinds.config import ConfigError
from laneway.kinds.rollup.doctor import look_at
from laneway.kinds.rollup.lanes import RollupLanes
from laneway.kinds.rollup.section import BundleSection
from laneway.kinds.rollup.service import (
    applied_block,
    authorizer_of,
    is_behind,
    rollup_head,
    unfit_cores,
)
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.kind import GENESIS_KEY
from laneway.rollups.ledger.refine import LedgerService
from laneway.rollups.ledger.state import genesis


def service(**storage: bytes) -> ServiceSetup:
    keys = {"head": HEAD_KEY, "genesis": GENESIS_KEY}
    held = {keys[name]: value for name, value in storage.items()}
    return ServiceSetup(service=LedgerService(bytes(32)), storage=held)


def test_a_ledger_is_told_by_its_records() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet:
            chain = Jip2Chain([JamPlace(url=devnet.url)])
            head = await rollup_head(chain, table("ws://n"))
            assert isinstance(head, ServiceHead)
            assert head.number == 0
            assert (
                await rollup_head(chain, table("ws://n", service=2))
                == "there is no service 2 on its chain"
            )
            assert await applied_block(chain, 1, 1) is None
            assert not await is_behind(chain)
            await chain.aclose()

    run(story)


def test_a_rollup_whose_packages_its_service_would_refuse_is_named_before_it_sends_any() -> None:
    async def story() -> None:
        storage = genesis({DEV_ACCOUNTS[0].id: 5}, [b"\7" * 32])
        strict = ServiceSetup(service=LedgerService(bytes(32)), storage=storage)
        async with JamDevnet(slot_ms=0, services={1: strict}) as devnet:
            chain = Jip2Chain([JamPlace(url=devnet.url)])
            told = await rollup_head(chain, table("ws://n"))
            assert isinstance(told, str)
            assert "07" * 32 in told
            assert "set `authorizer`" in told
            await chain.aclose()

    run(story)


def test_of_two_nodes_one_is_enough_for_a_start() -> None:
    """That a service has no list of authorizers is nothing that a second node must confirm."""

    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet:
            places = [JamPlace(url=devnet.url), JamPlace(url="ws://127.0.0.1:9")]
            chain = Jip2Chain(places, slot_ms=100)
            assert isinstance(await rollup_head(chain, table("ws://n")), ServiceHead)
            await chain.aclose()

    run(story)


def test_a_record_that_is_none_is_the_nodes_trouble_and_no_bug() -> None:
    async def story() -> None:
        storage = {block_key(1): b"garbage"}
        odd = ServiceSetup(service=LedgerService(bytes(32)), storage=storage)
        async with JamDevnet(slot_ms=0, services={1: odd}) as devnet:
            chain = Jip2Chain([JamPlace(url=devnet.url)])
            with pytest.raises(ChainUnreadable):
                await applied_block(chain, 1, 1)
            await chain.aclose()

    run(story)


@pytest.mark.parametrize(
    ("storage", "problem"),
    [
        ({}, "service 1 is no ledger: it holds no genesis record"),
        ({"head": b"x"}, "service 1 is no ledger: it holds no genesis record"),
        ({"genesis": b"x"}, "service 1 is no ledger: it holds no genesis record"),
        ({"head": b"x", "genesis": b"x"}, "service 1 is no ledger: head"),
    ],
)
def test_another_service_is_no_ledger(storage: dict[str, bytes], problem: str) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0, services={1: service(**storage)}) as devnet:
            chain = Jip2Chain([JamPlace(url=devnet.url)])
            told = await rollup_head(chain, table("ws://n"))
            assert isinstance(told, str)
            assert told.startswith(problem)
            await chain.aclose()

    run(story)


@pytest.mark.parametrize("answer", [None, "Z2FyYmFnZQ==", "swallowed"])
def test_one_bad_node_of_three_stops_no_start(answer: str | None) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, Jip2Relay(devnet.url) as bad:
            methods = ("serviceData", "serviceValue")
            if answer == "swallowed":
                bad.swallowed |= set(methods)
            else:
                bad.added |= dict.fromkeys(methods, lambda *_: answer)
            urls = {"bad": bad.url, "good": devnet.url, "other": devnet.url}
            places = [JamPlace(url=url, name=name) for name, url in urls.items()]
            chain = Jip2Chain(places, slot_ms=100)
            assert isinstance(await rollup_head(chain, table("ws://n")), ServiceHead)
            missing = await rollup_head(chain, table("ws://n", service=2))
            assert missing == "there is no service 2 on its chain", "two nodes say so"
            await chain.aclose()
            away = JamPlace("ws://127.0.0.1:9")
            chain = Jip2Chain([places[1], away])
            with pytest.raises(AnswerUnconfirmed) as caught:
                await rollup_head(chain, table("ws://n", service=2))
            assert caught.value.retry == "later", "the one that is away may know of it"
            await chain.aclose()

    run(story)


class Told:
    """A chain that says how far it is."""

    def __init__(self, state: SyncState | None) -> None:
        self._state = state

    async def sync_state(self) -> SyncState:
        if self._state is None:
            raise ChainUnreachable("node", "away")
        return self._state


@pytest.mark.parametrize(
    ("state", "behind"),
    [
        (SyncState(1, is_complete=False), True),
        (SyncState(1, is_complete=True), False),
        (None, False),
    ],
)
def test_a_node_is_behind_only_if_it_says_so(state: SyncState | None, behind: bool) -> None:
    async def story() -> None:
        assert await is_behind(Told(state)) is behind  # type: ignore[arg-type]

    run(story)


def test_cores_beyond_the_chains_are_named() -> None:
    assert unfit_cores(table("ws://n"), SIZES) == ""
    assert unfit_cores(table("ws://n", cores=[0, 2]), SIZES) == ""
    problem = unfit_cores(table("ws://n", cores=[2, 3, 4]), SIZES)
    assert problem == "main: the chain has cores 0 to 2, and not 3"


# By whose leave its packages are refined.

KEY = HeldEd25519Key(SECRET)


@pytest.fixture
def signer(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PAY_KEY", SECRET.hex())
    return "env:PAY_KEY"


def test_a_signer_alone_is_the_whole_authorizer(signer: str) -> None:
    """Its code and its config follow from the key; both may be said all the same."""
    said = {"code_hash": SIGNED_AUTHORIZER.hex(), "config": f"0x{KEY.public_key.hex()}"}
    for more in ({}, said):
        found = authorizer_of(table("ws://n", authorizer={"signer": signer, **more}))
        assert (found.host, found.code_hash, found.config) == (
            1, SIGNED_AUTHORIZER, KEY.public_key,
        )  # fmt: skip
        assert found.key is not None
        assert found.key.public_key == KEY.public_key
    assert authorizer_of(table("ws://n", authorizer={"signer": signer, "host": 9})).host == 9


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"signer": "env:PAY_KEY", "config": "ab" * 32}, "`config` is another one; leave `config`"),
        ({"signer": "env:PAY_KEY", "code_hash": "ab" * 32}, "; leave `code_hash` out, or `signer`"),
        ({"signer": "env:GONE"}, "env:GONE: there is no such variable"),
        ({"code_hash": SIGNED_AUTHORIZER.hex(), "config": "ab" * 32}, "; set `signer` to file:"),
        (
            {"code_hash": f"0x{SIGNED_AUTHORIZER.hex()}", "authorization": "ab" * 64},
            "; set `signer` to file:",
        ),
    ],
)
def test_a_key_that_does_not_fit_its_authorizer_is_refused_with_what_to_do(
    signer: str, chosen: dict[str, str], problem: str
) -> None:
    """Before a chain is asked, by a start and by the doctor alike."""
    section = table("ws://127.0.0.1:9", authorizer=chosen)
    witness = Witness(SECRET)
    with pytest.raises(ConfigError) as caught:
        authorizer_of(section)
    assert problem in str(caught.value)
    assert "main: " in str(caught.value)
    assert "$.rollup.authorizer" in str(caught.value)
    lanes = RollupLanes([section], BundleSection(), SystemClock())
    for asked in (lanes.open, lanes.rehearse):
        with pytest.raises(ConfigError) as again:
            run(asked)
        assert str(again.value) == str(caught.value)
    (finding,) = run(lambda: look_at(section))
    assert (finding.ok, problem in finding.what) == (False, True)
    witness.hears(signer, caught.value)
    witness.is_content()
