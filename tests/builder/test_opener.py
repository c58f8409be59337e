"""Opening a ledger's builder: which chain it is for, and its settings."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.builder.stage import (
    FIRST,
    LEDGER,
    SERVICE,
    Site,
    hands,
    story,
    tell,
)

from laneway.builder.opener import open_builder
from laneway.builder.packages import Authorizer
from laneway.core.errors import BuildFailed, StoreRefused
from laneway.devnets.jam.devnet import rollup_service
from laneway.devnets.jam.model.values import ModelSetup
from laneway.jam.package import WORK_PACKAGE
from laneway.rollups.ledger.account import LedgerEntry
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.receipts import At

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "builder.db")


def test_the_genesis_of_a_young_chain_is_found_and_then_known_from_the_file(path: str) -> None:
    async def tale(site: Site) -> None:
        first = await site.builder(path, genesis=None)
        assert first.domain.chain == site.genesis
        await first.aclose()
        site.devnet.step(20)
        again = await site.builder(path, genesis=None)
        assert again.domain.chain == site.genesis
        with pytest.raises(BuildFailed, match="name the hash of the chain's first header"):
            await site.builder(None, genesis=None)

    story(tale)


def test_a_genesis_that_the_services_code_was_not_made_for_is_refused() -> None:
    async def tale(site: Site) -> None:
        with pytest.raises(BuildFailed, match="service 1 is no ledger of a chain that began with"):
            await site.builder(None, genesis=b"x" * 32)
        with pytest.raises(BuildFailed, match="the chain has no service 2"):
            await open_builder(LEDGER, await site.chain(), SERVICE + 1, None)

    story(tale)


def test_a_file_of_another_chain_is_refused_by_its_genesis(path: str) -> None:
    async def first(site: Site) -> None:
        await site.builder(path)

    async def second(site: Site) -> None:
        with pytest.raises(StoreRefused, match="of another rollup"):
            await site.builder(path)
        with pytest.raises(StoreRefused, match="of another rollup"):
            await site.builder(path, genesis=None)

    story(first)
    other = ModelSetup(seed=b"another")
    story(second, setup=replace(other, services={SERVICE: rollup_service(other)}))


def test_an_account_has_what_its_blocks_gave_it() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.build(site.transfer(0, amount=9))
        assert hand.builder.state().account(FIRST.id) == LedgerEntry(BALANCE_DEV - 9, 1)
        assert hand.builder.state(At.FINALIZED).account(FIRST.id) == LedgerEntry(BALANCE_DEV, 0)
        assert hand.builder.state().account(b"x" * 32) == LedgerEntry(0, 0)

    story(tale)


def test_the_authorizer_and_how_much_is_kept_are_settings() -> None:
    async def tale(site: Site) -> None:
        chosen = Authorizer(host=9, config=b"config")
        hand = await hands(site, authorizer=chosen, blocks_kept=1)
        first = await hand.build(site.transfer(0))
        made = await hand.package(first)
        found = WORK_PACKAGE.decode(made.package.encoded)
        assert (found.auth_code_host, found.authorizer_config) == (9, b"config")
        second = await hand.build(site.transfer(1))
        await hand.builder.notified([tell("finalised", first), tell("finalised", second, 2)])
        assert await hand.builder.block(1) is None
        assert await hand.builder.block(2) is not None

    story(tale)
