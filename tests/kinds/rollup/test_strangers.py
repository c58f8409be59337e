"""A rollup whose service lists one key, and a stranger who has all that stands on the chain."""

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.devnets.jam.stage import at_head
from tests.kinds.rollup.stage import LANE, SERVICE, made, run, table
from tests.rollup_stage import Judge, Purse

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.model.values import NULL_AUTHORIZER, SubmissionRefusal
from laneway.jam.authorizers import (
    SIGNED_AUTHORIZER,
    UNSIGNED,
    sign_package,
    signed_authorizer_hash,
)
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.package import WORK_PACKAGE, WorkPackage, package_hash
from laneway.jam.service.commitment import refusal_of
from laneway.jam.service.limits import RIVAL_COUNT_MAX
from laneway.jam.service.values import NoEffectReason
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.block import genesis_header
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.state import execute, genesis_state, witness_of
from laneway.rollups.ledger.transfer import signed
from laneway.rollups.ledger.witness import work_item
from laneway.rollups.rules import BlockWork
from laneway.wire.rpc_server.methods import RpcRefused

SLOT_MS = 200
SEED = b"o" * 32
OWN, OTHER = HeldEd25519Key(SEED), HeldEd25519Key(b"s" * 32)


class Stranger:
    """Makes true packages for the service, and hands them in as anybody can."""

    def __init__(self, devnet: JamDevnet) -> None:
        self._devnet = devnet
        self._domain = Domain(devnet.model.genesis, SERVICE)
        self.sent: list[bytes] = []

    def work(self, number: int, extra: int = 0) -> BlockWork:
        """A block of this number on what the ledger began with; with `extra` on a made-up state."""
        balances = {one.id: BALANCE_DEV for one in DEV_ACCOUNTS}
        balances[DEV_ACCOUNTS[0].id] += extra
        state = genesis_state(self._domain, balances)
        parent = replace(genesis_header(state.root), number=number - 1)
        payer, payee = DEV_ACCOUNTS[:2]
        sent = signed(payer.key, self._domain, recipient=payee.id, amount=1, nonce=0)
        block, _ = execute(state, [sent], parent, 1)
        return work_item(self._domain, block, witness_of(state, block))

    def package(self, work: BlockWork) -> WorkPackage:
        """By the authorizer that lets everybody pass."""
        model = self._devnet.model
        return WorkPackage(
            auth_code_host=SERVICE,
            auth_code_hash=NULL_AUTHORIZER,
            context=replace(model.refine_context(0, ()), **at_head(model)),
            items=work.items,
        )

    def hand_in(self, package: WorkPackage, work: BlockWork, core: int) -> None:
        raw, extrinsics = WORK_PACKAGE.encode(package), [text(one) for one in work.extrinsics]
        self._devnet.say("submitWorkPackage", core, text(raw), extrinsics)
        self.sent.append(package_hash(package))

    def fate(self, package: bytes) -> NoEffectReason | None:
        found = refusal_of(Final(self._devnet), package)
        return None if found is None else NoEffectReason(found.reason)


class Final:
    """The service's storage as the chain's newest block leaves it."""

    def __init__(self, devnet: JamDevnet) -> None:
        self._model = devnet.model

    def read(self, key: bytes, /) -> bytes | None:
        best = self._model.best(0).header_hash
        return self._model.service_value(0, best, SERVICE, key)


def text(raw: bytes) -> str:
    return b64encode(raw).decode()


def guarded(folder: Path, order: str, devnet: JamDevnet) -> Any:
    file = folder / "pay.key"
    file.write_text(SEED.hex())
    file.chmod(0o600)
    return table(
        devnet.url,
        genesis=devnet.model.genesis.hex(),
        slot_ms=SLOT_MS,
        order=order,
        authorizer={"signer": f"file:{file}"},
    )


def listed() -> Sequence[bytes]:
    return [signed_authorizer_hash(OWN.public_key)]


@pytest.mark.slow
@pytest.mark.parametrize("order", ["chained", "parallel"])
def test_a_stranger_moves_no_line_and_fills_no_place_of_early_blocks_while_the_lane_goes_on(
    order: str, tmp_path: Path
) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=SLOT_MS, authorizers=listed()) as devnet:
            purse, judge = Purse(devnet.model.genesis), Judge(devnet.say)
            handed, stranger = noted(devnet), Stranger(devnet)
            async with made(str(tmp_path / "l.db"), guarded(tmp_path, order, devnet)) as lw:
                # The next block of the line, true in all, and as many early ones as are held.
                early = [stranger.work(3, 1 + n) for n in range(RIVAL_COUNT_MAX)]
                works = [stranger.work(1), *early]
                for place, work in enumerate(works):
                    stranger.hand_in(stranger.package(work), work, place % 2)
                handles = [await lw.transfer(LANE, raw) for raw in purse.transfers(4)]
                for one in handles:
                    assert (await one.result(60)).is_confirmed()
                # Now the config and a signature are on the chain for everybody to copy.
                seen = handed[-1]
                assert seen.auth_code_hash == SIGNED_AUTHORIZER
                late = stranger.work(judge.height() + 1)
                forged = replace(
                    stranger.package(late),
                    auth_code_hash=seen.auth_code_hash,
                    authorizer_config=seen.authorizer_config,
                    authorization=seen.authorization,
                )
                with pytest.raises(RpcRefused, match=UNSIGNED):
                    stranger.hand_in(forged, late, 0)
                own = replace(forged, authorizer_config=OTHER.public_key)
                stranger.hand_in(sign_package(own, OTHER), late, 0)
                handles = [await lw.transfer(LANE, raw) for raw in purse.transfers(4)]
                for one in handles:
                    assert (await one.result(60)).is_confirmed()
                assert (await lw.health(LANE)).problems == []
            audit = judge.audit(purse.made)
            assert (audit.problems, audit.total) == ([], 8)
            fates = {stranger.fate(one) for one in stranger.sent[: len(works)]}
            assert NoEffectReason.NOT_AUTHORISED in fates
            assert fates <= {NoEffectReason.NOT_AUTHORISED, None}, "None: no core took it in time"

    run(story)


def noted(devnet: JamDevnet) -> list[WorkPackage]:
    """The packages that nodes are handed from now on."""
    handed: list[WorkPackage] = []
    submit = devnet.model.submit

    def seen(
        node: int, core: int, package: bytes, extrinsics: Sequence[bytes] = ()
    ) -> SubmissionRefusal | None:
        handed.append(WORK_PACKAGE.decode(package))
        return submit(node, core, package, extrinsics)

    devnet.model.submit = seen  # type: ignore[method-assign]
    return handed
