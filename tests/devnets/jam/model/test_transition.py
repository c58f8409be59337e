import pytest
from tests.devnets.jam.stage import ECHO, Echo, best, chain, produce, run, send, setup
from tests.jam.lookups import holds_together, of_core, vouches_for

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.epochs import is_first_of_epoch
from laneway.devnets.jam.model.faults import Faults, JamFault
from laneway.devnets.jam.model.genesis import begun
from laneway.devnets.jam.model.guarantors import verify_guarantee
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.state import ChainState
from laneway.devnets.jam.model.transition import (
    AuthoredBlock,
    BlockDraft,
    ChainParts,
    assurances,
    opened,
)
from laneway.devnets.jam.model.values import NULL_AUTHORIZER_HASH, ServiceSetup
from laneway.jam.ed25519 import verifies
from laneway.jam.extrinsic import Preimage, ReportGuarantee, ValidatorSignature
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.header import Block, block_codec, header_hash
from laneway.jam.package import RefineContext
from laneway.jam.report import Ok, PackageSpec, WorkReport, WorkResult
from laneway.jam.rotation import current_guarantors
from laneway.jam.rules.assuring import assurance_message
from laneway.jam.rules.checks import guarantee_message
from laneway.jam.spec import TINY
from laneway.jam.state_keys import preimage_key
from laneway.jam.trie import root

WANTED = b"a preimage"


def world(signs: bool) -> ChainParts:
    return ChainParts(TINY, Keyring(TINY, 0, signs=signs), {ECHO: Echo()}, signs)


def first(made: ChainParts) -> tuple[bytes, ChainState]:
    request = (blake2b(WANTED), len(WANTED))
    services = {ECHO: ServiceSetup(service=Echo(), requests=(request,))}
    block, state = begun(setup(services=services), made.keyring)
    return header_hash(block.header, TINY), state


def guarantee(draft: BlockDraft, name: bytes, core: int = 0) -> ReportGuarantee:
    """Of a package with no bytes, by those who are assigned."""
    opening, keyring = draft.opening, draft.world.keyring
    recent = draft.reporting_state().recent[-1]
    report = WorkReport(
        package_spec=PackageSpec(
            hash=blake2b(name),
            length=0,
            erasure_root=ZERO_HASH,
            exports_root=ZERO_HASH,
            exports_count=0,
        ),
        context=RefineContext(
            anchor=recent.header_hash,
            state_root=recent.state_root,
            beefy_root=recent.beefy_root,
            lookup_anchor=recent.header_hash,
            lookup_anchor_slot=draft.before.slot,
        ),
        core_index=core,
        authorizer_hash=NULL_AUTHORIZER_HASH,
        results=(
            WorkResult(
                service_id=ECHO,
                code_hash=Echo().code_hash,
                payload_hash=ZERO_HASH,
                accumulate_gas=100,
                result=Ok(name),
            ),
        ),
    )
    team = current_guarantors(opening.era.standing(opening.entropy), draft.slot, TINY)
    return ReportGuarantee(
        report=report,
        slot=draft.slot,
        signatures=tuple(
            ValidatorSignature(
                place, keyring.sign_as(keyring.number(team.keys[place]), guarantee_message(report))
            )
            for place in of_core(team, core)
        ),
    )


def after(made: ChainParts, parent: AuthoredBlock, slot: int) -> BlockDraft:
    draft = BlockDraft(made, parent.state, parent.header_hash, slot)
    draft.assure(assurances(draft, Faults(), lambda _: True))
    return draft


@pytest.mark.parametrize("signs", [True, False])
def test_a_report_is_taken_made_available_and_accumulated(signs: bool) -> None:
    made = world(signs)
    genesis, before = first(made)
    draft = BlockDraft(made, before, genesis, 5)
    draft.ancestors = {genesis: 0}
    offered = [guarantee(draft, b"name"), guarantee(draft, b"other", core=1)]
    bench = draft.bench(offered)
    assert [verify_guarantee(bench, one) for one in offered] == [None, None]
    assert blake2b(b"name") in bench.packages
    reported = draft.seal(tuple(offered))
    assert holds_together(reported.block, TINY)
    assert reported.state.trie.root == root(dict(reported.state.trie.items()))
    assert sum(one is not None for one in reported.state.pending) == 2
    assert sum(one.guarantees for one in reported.state.statistics.current) == 6
    following = after(made, reported, 6)
    done = following.seal(())
    assert {one.package_spec.hash for one in done.available} == set(done.accumulated)
    assert len(done.accumulated) == 2
    assert done.state.stored(ECHO, b"last") == b"other"
    assert done.block.header.parent_state_root == reported.state.trie.root
    assert done.header_hash == header_hash(done.block.header, TINY)


@pytest.mark.parametrize("signs", [True, False])
def test_a_report_that_nobody_assures_is_dropped_in_time(signs: bool) -> None:
    made = world(signs)
    genesis, before = first(made)
    draft = BlockDraft(made, before, genesis, 1)
    draft.ancestors = {genesis: 0}
    reported = draft.seal((guarantee(draft, b"name"),))
    for slot, is_late in ((5, False), (6, True)):
        following = BlockDraft(made, reported.state, reported.header_hash, slot)
        following.assure(())
        done = following.seal(())
        assert bool(done.timed_out) is is_late
        assert (done.state.pending[0] is None) is is_late


def test_an_epoch_s_first_block_has_a_mark_and_another_author_is_drawn() -> None:
    made = world(False)
    genesis, before = first(made)
    draft = BlockDraft(made, before, genesis, 12)
    assert is_first_of_epoch(before.slot, 12, TINY)
    assert draft.opening.mark is not None
    assert draft.opening.era.turns == 1
    sealed = draft.seal(())
    assert sealed.block.header.epoch_mark == draft.opening.mark
    assert sealed.state.entropy[1:] == before.entropy[:3]
    same = opened(sealed.state, 13, made)
    assert (same.mark, same.era) == (None, sealed.state.era)


def test_another_variant_is_another_block_with_the_same_state_but_for_its_name() -> None:
    made = world(False)
    genesis, before = first(made)
    one, same, other = (BlockDraft(made, before, genesis, 1).seal((), (), n) for n in (0, 0, 1))
    assert one.header_hash == same.header_hash != other.header_hash
    assert one.block.header.entropy_source == other.block.header.entropy_source
    assert one.state.entropy == other.state.entropy


def test_a_preimage_that_was_asked_for_is_stored() -> None:
    made = world(True)
    genesis, before = first(made)
    sealed = BlockDraft(made, before, genesis, 1).seal((), (Preimage(ECHO, WANTED),))
    assert sealed.state.trie.get(preimage_key(ECHO, blake2b(WANTED))) == WANTED
    assert sealed.state.statistics.services[0].activity.provided_count == 1


def block(model: JamModel) -> Block:
    return block_codec(TINY).decode(model.block(0, best(model)))


def reported() -> JamModel:
    """Both cores have a report that waits."""
    model = chain(3, is_voting=False)
    for core in range(2):
        send(model, bytes([0, core]), core=core)
    run(model)
    return model


def test_all_validators_assure_what_the_parent_reports() -> None:
    model = reported()
    done = run(model)
    said = block(model).extrinsic.assurances
    assert [one.validator_index for one in said] == list(range(6))
    assert all(vouches_for(one, 0) and vouches_for(one, 1) for one in said)
    keys = model.voters().current_keys
    for one in said:
        message = assurance_message(one.anchor, one.bitfield)
        assert verifies(keys[one.validator_index], one.signature, message)
    assert len(done.available) == 2


def test_nobody_says_that_it_has_nothing() -> None:
    model = chain(3)
    assert block(model).extrinsic.assurances == ()


def test_a_dark_core_is_left_out() -> None:
    model = reported()
    model.faults.unavailable_cores = {1}
    done = run(model)
    assert not vouches_for(block(model).extrinsic.assurances[0], 1)
    assert len(done.available) == 1
    assert model.faults.bites[JamFault.UNAVAILABLE] == 1
    assert produce(model, unassured_cores=[1]).available == ()


def test_silent_validators_can_be_too_many() -> None:
    for silent, available in (({0}, 2), ({0, 1}, 0)):
        model = reported()
        model.faults.silent_assurers = set(silent)
        assert len(run(model).available) == available
        assert model.faults.bites[JamFault.SILENT_ASSURER] == len(silent)


def test_validators_on_the_other_side_of_a_partition_are_not_heard() -> None:
    model = reported()
    author = run(reported()).author
    assert author is not None
    model.partition([[author], [one for one in range(6) if one != author]])
    done = run(model)
    assert done.available == ()
    assert [one.validator_index for one in block(model).extrinsic.assurances] == [author]
    assert model.faults.bites[JamFault.PARTITION] > 0
