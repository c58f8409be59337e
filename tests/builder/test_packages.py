"""Work packages: bytes, hash, context and authorizer."""

from msgspec.structs import replace
from tests.canary import Witness

from laneway.builder.packages import NULL_AUTHORIZER, Authorizer, packed, refine_context
from laneway.core.jam import Context, JamBlockRef, JamHead
from laneway.devnets.jam.model import values
from laneway.jam.authorizers import SIGNED_AUTHORIZER, UNSIGNED, authorization_problem
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.package import WORK_PACKAGE, RefineContext, WorkItem, package_hash
from laneway.rollups.rules import BlockWork

ANCHOR, LOOKUP = JamBlockRef(b"a" * 32, 9), JamBlockRef(b"l" * 32, 5)
CONTEXT = Context(
    anchor=ANCHOR,
    state_root=b"s" * 32,
    beefy_root=b"b" * 32,
    lookup_anchor=LOOKUP,
    lookup_state_root=None,
    head=JamHead(ANCHOR, LOOKUP, "node"),
)
ITEM = WorkItem(
    service=3, code_hash=b"c" * 32, refine_gas_limit=7, accumulate_gas_limit=8, payload=b"header"
)
WORK = BlockWork((ITEM,), (b"one", b"two"))


def test_a_package_leans_on_the_context_and_names_its_prerequisites() -> None:
    assert refine_context(CONTEXT, [b"p" * 32]) == RefineContext(
        anchor=b"a" * 32,
        state_root=b"s" * 32,
        beefy_root=b"b" * 32,
        lookup_anchor=b"l" * 32,
        lookup_anchor_slot=5,
        prerequisites=(b"p" * 32,),
    )


def test_a_package_has_the_work_and_its_hash_and_names_its_block() -> None:
    context = refine_context(CONTEXT, ())
    made = packed(WORK, context, Authorizer(host=3), b"block")
    found = WORK_PACKAGE.decode(made.package.encoded)
    assert (found.items, found.context) == ((ITEM,), context)
    assert (found.auth_code_host, found.auth_code_hash) == (3, NULL_AUTHORIZER)
    assert made.package.extrinsics == (b"one", b"two")
    assert made.package_hash == package_hash(found)
    assert made.block == b"block"


def test_the_authorizer_is_a_setting_and_lets_everything_pass_unless_it_is_said() -> None:
    assert NULL_AUTHORIZER == values.NULL_AUTHORIZER
    chosen = Authorizer(host=9, code_hash=b"x" * 32, config=b"config", authorization=b"leave")
    found = WORK_PACKAGE.decode(
        packed(WORK, refine_context(CONTEXT, ()), chosen, b"block").package.encoded
    )
    assert (found.auth_code_host, found.auth_code_hash) == (9, b"x" * 32)
    assert (found.authorizer_config, found.authorization) == (b"config", b"leave")


KEY = HeldEd25519Key(b"k" * 32)
SIGNED = Authorizer(host=3, code_hash=SIGNED_AUTHORIZER, config=KEY.public_key, key=KEY)


def test_a_key_signs_each_package_and_the_same_order_has_the_same_bytes() -> None:
    context = refine_context(CONTEXT, [b"p" * 32])
    made = packed(WORK, context, SIGNED, b"block")
    found = WORK_PACKAGE.decode(made.package.encoded)
    assert authorization_problem(found) == ""
    assert made.package_hash == package_hash(found), "the hash is that of what is submitted"
    assert packed(WORK, context, SIGNED, b"block") == made


def test_a_signature_is_good_for_its_own_package_alone() -> None:
    one, other = (
        WORK_PACKAGE.decode(
            packed(WORK, refine_context(CONTEXT, needs), SIGNED, b"block").package.encoded
        )
        for needs in ([b"p" * 32], [b"q" * 32])
    )
    assert authorization_problem(replace(other, authorization=one.authorization)) == UNSIGNED


def test_no_text_of_an_authorizer_shows_its_key() -> None:
    witness = Witness(b"k" * 32)
    witness.hears("authorizer", SIGNED)
    witness.is_content()
