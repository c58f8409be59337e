"""Laws of authorizers: what they let pass, and by what they are listed."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam.objects import work_package

from laneway.jam.authorizers import (
    SIGNED_AUTHORIZER,
    UNSIGNED,
    authorization_problem,
    sign_package,
    signed_authorizer_hash,
)
from laneway.jam.ed25519 import SIGNATURE_BYTES, ZERO_KEY, HeldEd25519Key
from laneway.jam.hashing import blake2b
from laneway.jam.package import WorkPackage, authorizer_hash

KEY, OTHER = HeldEd25519Key(blake2b(b"key")), HeldEd25519Key(blake2b(b"other"))


def unsigned(key: HeldEd25519Key = KEY) -> WorkPackage:
    return replace(
        work_package(Random(7)),
        auth_code_hash=SIGNED_AUTHORIZER,
        authorizer_config=key.public_key,
        authorization=b"",
    )


SIGNED = sign_package(unsigned(), KEY)


def test_what_its_key_signed_passes() -> None:
    assert authorization_problem(SIGNED) == ""


def test_a_package_that_was_signed_before_is_signed_in_the_same_way() -> None:
    """The authorization is no part of what is signed."""
    assert sign_package(SIGNED, KEY) == SIGNED


@pytest.mark.parametrize("field", ["auth_code_host", "context", "items", "authorizer_config"])
def test_nothing_of_a_package_can_be_changed_after_it_was_signed(field: str) -> None:
    other = work_package(Random(8))
    assert getattr(other, field) != getattr(SIGNED, field)
    assert authorization_problem(replace(SIGNED, **{field: getattr(other, field)})) == UNSIGNED


def test_without_the_key_nobody_passes() -> None:
    by_another = replace(SIGNED, authorization=sign_package(unsigned(OTHER), OTHER).authorization)
    for stranger in (
        by_another,
        unsigned(),
        replace(SIGNED, authorization=bytes(SIGNATURE_BYTES)),
        replace(SIGNED, authorizer_config=b""),
    ):
        assert authorization_problem(stranger) == UNSIGNED


def test_a_key_for_which_anybody_can_sign_lets_nobody_pass() -> None:
    weak = replace(SIGNED, authorizer_config=ZERO_KEY, authorization=ZERO_KEY + bytes(32))
    assert authorization_problem(weak) == UNSIGNED


def test_code_that_is_not_known_lets_everything_pass() -> None:
    assert authorization_problem(replace(unsigned(), auth_code_hash=blake2b(b"null"))) == ""


def test_another_key_is_another_authorizer() -> None:
    listed = signed_authorizer_hash(KEY.public_key)
    assert listed == authorizer_hash(SIGNED.auth_code_hash, SIGNED.authorizer_config)
    assert listed != signed_authorizer_hash(OTHER.public_key)
