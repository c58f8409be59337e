"""The ledger service on the chain model: blocks have their effect once, in order, whatever the
network does to their packages."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from tests.devnets.jam.stage import at_head, best, made, packages, run
from tests.rollups.ledger.stage import BALANCES, IDS, KEYS

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.genesis import genesis_hash
from laneway.devnets.jam.model.values import (
    NULL_AUTHORIZER,
    NULL_AUTHORIZER_HASH,
    ModelSetup,
    RefusalKind,
    ServiceSetup,
    StepReport,
)
from laneway.jam import state_keys
from laneway.jam.authorizers import SIGNED_AUTHORIZER, sign_package, signed_authorizer_hash
from laneway.jam.availability import reconstruct_segments
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.hashing import blake2b
from laneway.jam.package import WORK_PACKAGE, WorkPackage, package_hash
from laneway.jam.report import WORK_REPORT, Ok, WorkError
from laneway.jam.service.commitment import block_key, head_of, package_key, refusal_of
from laneway.jam.service.limits import RIVAL_COUNT_MAX
from laneway.jam.service.values import BLOCK_RECORD, NoEffectReason
from laneway.jam.spec import TINY
from laneway.jam.state_proof import verify_presence
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.block import HEADER, LedgerBlock, block_hash, block_of, genesis_header
from laneway.rollups.ledger.refine import LedgerService
from laneway.rollups.ledger.state import execute, genesis, genesis_state, witness_of
from laneway.rollups.ledger.transfer import signed
from laneway.rollups.ledger.witness import work_item
from laneway.rollups.rules import BlockWork

LEDGER = 5


class Storage:
    """The service's storage at a node's best block."""

    def __init__(self, model: JamModel) -> None:
        self._model = model

    def read(self, key: bytes, /) -> bytes | None:
        return self._model.service_value(0, best(self._model), LEDGER, key)


class Rollup:
    """A chain with a ledger, and a builder that makes blocks of one transfer each."""

    def __init__(self, listed: Sequence[bytes] = (), **fields: Any) -> None:
        chain = genesis_hash(ModelSetup(**fields))
        service = ServiceSetup(service=LedgerService(chain), storage=genesis(BALANCES, listed))
        self.model = JamModel(ModelSetup(services={LEDGER: service}, **fields))
        assert self.model.genesis == chain
        self.domain = Domain(chain, LEDGER)
        self.states = [genesis_state(self.domain, BALANCES)]
        self.headers = [genesis_header(self.states[0].root)]
        run(self.model, 3)

    def build(self) -> tuple[LedgerBlock, BlockWork]:
        nonce = len(self.headers) - 1
        sent = signed(KEYS[0], self.domain, recipient=IDS[1], amount=1, nonce=nonce)
        block, state = execute(self.states[-1], [sent], self.headers[-1], self.model.slot)
        witness = witness_of(self.states[-1], block)
        self.states.append(state)
        self.headers.append(block.header)
        return block, work_item(self.domain, block, witness)

    def package(self, work: BlockWork, needs: Sequence[bytes] = ()) -> WorkPackage:
        context = self.model.refine_context(0, needs)
        return WorkPackage(
            auth_code_host=LEDGER,
            auth_code_hash=NULL_AUTHORIZER,
            context=replace(context, **at_head(self.model)),
            items=work.items,
        )

    def submit(self, package: WorkPackage, work: BlockWork, core: int = 0) -> bytes:
        raw = WORK_PACKAGE.encode(package)
        assert self.model.submit(0, core, raw, work.extrinsics) is None
        return package_hash(package)

    def head(self) -> int:
        found = head_of(Storage(self.model))
        assert found is not None
        return found.number


def test_a_block_of_the_ledger_is_applied_recorded_and_proved() -> None:
    rollup = Rollup()
    model = rollup.model
    block, work = rollup.build()
    package = rollup.submit(rollup.package(work), work)
    (reported,) = run(model).reported
    report = WORK_REPORT.decode(model.work_report(0, reported.report_hash))
    assert isinstance(report.results[0].result, Ok)
    done = run(model)
    assert (done.accumulated, rollup.head()) == ((package,), 1)
    at = made(done).header_hash
    raw = model.service_value(0, at, LEDGER, block_key(1))
    assert raw is not None
    record = BLOCK_RECORD.decode(raw)
    assert (record.package_hash, record.block) == (package, block_hash(block.header))
    assert record.exports_root == report.package_spec.exports_root
    key = state_keys.storage_key(LEDGER, package_key(package))
    proof = model.state_proof(0, at, key)
    assert proof.value is not None
    verify_presence(root=model.state_root(0, at), key=key, value=proof.value, nodes=proof.nodes)
    root = report.package_spec.erasure_root
    holdings = [model.holding(validator, root) for validator in (3, 4)]
    found = reconstruct_segments(TINY, [(one.index, one.segment_shards) for one in holdings])
    assert block_of(found[: report.package_spec.exports_count]) == block


OWN, STRANGER = HeldEd25519Key(blake2b(b"own")), HeldEd25519Key(blake2b(b"stranger"))


def guarded() -> Rollup:
    """A rollup whose line one key may move, on cores that take another's packages, too."""
    taken = tuple(signed_authorizer_hash(key.public_key) for key in (OWN, STRANGER))
    pools = dict.fromkeys(range(TINY.core_count), (NULL_AUTHORIZER_HASH, *taken))
    return Rollup(taken[:1], authorizers=pools)


def by(key: HeldEd25519Key, package: WorkPackage) -> WorkPackage:
    named = replace(package, auth_code_hash=SIGNED_AUTHORIZER, authorizer_config=key.public_key)
    return sign_package(named, key)


def test_a_line_is_moved_by_the_key_that_its_service_lists() -> None:
    rollup = guarded()
    for number in (1, 2):
        _, work = rollup.build()
        package = rollup.submit(by(OWN, rollup.package(work)), work)
        run(rollup.model)
        assert run(rollup.model).accumulated == (package,)
        assert rollup.head() == number


def test_a_strangers_block_is_true_and_signed_and_does_not_move_the_line() -> None:
    """By a key of its own, and by the authorizer that lets everybody pass."""
    rollup = guarded()
    _, work = rollup.build()
    plain = rollup.package(work)
    packages = [
        rollup.submit(one, work, core=core) for core, one in enumerate((by(STRANGER, plain), plain))
    ]
    run(rollup.model)
    assert sorted(run(rollup.model).accumulated) == sorted(packages)
    assert rollup.head() == 0
    for package in packages:
        refused = refusal_of(Storage(rollup.model), package)
        assert refused is not None
        assert refused.reason is NoEffectReason.NOT_AUTHORISED
    # The same block by the key that is listed.
    rollup.submit(by(OWN, rollup.package(work)), work)
    run(rollup.model, 2)
    assert rollup.head() == 1


def junk(rollup: Rollup, number: int) -> list[BlockWork]:
    """True blocks of this number on made-up states, one for each place that early blocks have."""
    found: list[BlockWork] = []
    for amount in range(1, 1 + RIVAL_COUNT_MAX):
        state = genesis_state(rollup.domain, {IDS[0]: 1_000 + amount})
        parent = replace(genesis_header(state.root), number=number - 1)
        sent = signed(KEYS[0], rollup.domain, recipient=IDS[1], amount=1, nonce=0)
        block, _ = execute(state, [sent], parent, 1)
        found.append(work_item(rollup.domain, block, witness_of(state, block)))
    return found


@pytest.mark.parametrize("is_open", [False, True])
def test_a_stranger_fills_the_places_of_early_blocks_only_where_all_may_move_the_line(
    is_open: bool,
) -> None:
    rollup = Rollup() if is_open else guarded()
    model = rollup.model
    works = [rollup.build()[1] for _ in range(3)]
    for pair in zip(junk(rollup, 2), junk(rollup, 3), strict=True):
        for core, work in enumerate(pair):
            rollup.submit(rollup.package(work), work, core=core)
        run(model, 2)
    own = [
        rollup.submit(one if is_open else by(OWN, one), work, core=core)
        for core, work in enumerate(works[1:])
        for one in [rollup.package(work)]
    ]
    run(model, 2)
    refusals = [refusal_of(Storage(model), one) for one in own]
    if is_open:
        assert [one and one.reason for one in refusals] == [NoEffectReason.NO_ROOM] * 2
    else:
        assert refusals == [None, None]
    first = rollup.package(works[0])
    rollup.submit(first if is_open else by(OWN, first), works[0])
    run(model, 2)
    assert rollup.head() == (1 if is_open else 3)


def test_guarantors_refuse_a_stranger_who_names_the_key_of_the_rollup() -> None:
    rollup = guarded()
    _, work = rollup.build()
    signed_by_another = by(STRANGER, rollup.package(work)).authorization
    forged = replace(by(OWN, rollup.package(work)), authorization=signed_by_another)
    refused = rollup.model.submit(0, 0, WORK_PACKAGE.encode(forged), work.extrinsics)
    assert refused is not None
    assert refused.kind is RefusalKind.UNAUTHORISED


def test_two_versions_of_a_block_accumulate_and_one_has_an_effect() -> None:
    rollup = Rollup()
    model = rollup.model
    model.faults.pairs_versions = True
    _, work = rollup.build()
    first = rollup.submit(rollup.package(work), work, core=0)
    run(model)
    second = rollup.submit(rollup.package(work), work, core=1)
    assert packages(run(model)) == [first, second]
    assert sorted(run(model).accumulated) == sorted([first, second])
    assert rollup.head() == 1
    (refused,) = [
        found for one in (first, second) if (found := refusal_of(Storage(model), one)) is not None
    ]
    assert refused.reason is NoEffectReason.SAME_BLOCK_APPLIED


def test_blocks_that_come_in_the_wrong_order_are_applied_in_the_right_one() -> None:
    rollup = Rollup()
    model = rollup.model
    works = [rollup.build()[1] for _ in range(3)]
    model.faults.withheld_cores = {0}
    rollup.submit(rollup.package(works[0]), works[0], core=0)
    for work in works[1:]:
        rollup.submit(rollup.package(work), work, core=1)
    run(model, 4)
    assert rollup.head() == 0
    model.faults.withheld_cores = set()
    run(model, 2)
    assert rollup.head() == 3


def test_chained_blocks_wait_for_one_another() -> None:
    rollup = Rollup()
    model = rollup.model
    needs: list[bytes] = []
    for core in (0, 1):
        _, work = rollup.build()
        needs = [rollup.submit(rollup.package(work, needs), work, core)]
    assert len(run(model).reported) == 2
    model.faults.unavailable_cores = {0}
    done = run(model)
    assert (done.queued, rollup.head()) == (tuple(needs), 0)
    model.faults.unavailable_cores = set()
    run(model)
    assert rollup.head() == 2


def test_a_block_that_a_reorg_took_back_is_applied_once_from_the_same_bytes() -> None:
    rollup = Rollup(is_voting=False)
    model = rollup.model
    _, work = rollup.build()
    package = rollup.package(work)
    name = rollup.submit(package, work)
    run(model, 2)
    assert rollup.head() == 1
    model.faults.reorg_depth = 2
    run(model)
    assert rollup.head() == 0
    rollup.submit(package, work)
    run(model, 2)
    assert rollup.head() == 1
    assert model.is_accumulated(0, best(model), name)


def test_a_package_that_lies_is_accumulated_without_an_effect() -> None:
    rollup = Rollup()
    model = rollup.model
    block, work = rollup.build()
    lying = replace(block.header, post_root=bytes(32))
    item = replace(work.items[0], payload=HEADER.encode(lying))
    package = rollup.package(BlockWork((item,), work.extrinsics))
    name = rollup.submit(package, work)
    (reported,) = run(model).reported
    report = WORK_REPORT.decode(model.work_report(0, reported.report_hash))
    assert report.results[0].result is WorkError.PANIC
    assert run(model).accumulated == (name,)
    assert rollup.head() == 0
    refused = refusal_of(Storage(model), name)
    assert refused is not None
    assert refused.reason is NoEffectReason.REFINE_FAILED


def test_a_faulty_guarantor_cannot_make_a_ledger_pay() -> None:
    rollup = Rollup()
    model = rollup.model
    model.faults.wrong_refiners = {0, 3}
    _, work = rollup.build()
    rollup.submit(rollup.package(work), work)
    done: StepReport = run(model)
    while not done.reported:
        done = run(model)
    run(model)
    assert rollup.head() == 1


@pytest.mark.slow
def test_a_hundred_blocks_are_applied_on_two_cores() -> None:
    rollup = Rollup()
    model = rollup.model
    needs: list[bytes] = []
    for number in range(100):
        _, work = rollup.build()
        needs = [rollup.submit(rollup.package(work, needs), work, number % 2)]
        if number % 2:
            run(model)
    run(model, 2)
    assert rollup.head() == 100
