"""A rollup's domain: which one of which chain, as bytes."""

from laneway.rollups.domain import DOMAIN, Domain


def test_the_identity_is_the_chains_hash_and_the_services_number() -> None:
    domain = Domain(b"c" * 32, 258)
    assert domain.identity() == b"c" * 32 + b"\2\1\0\0"
    assert DOMAIN.decode(domain.identity()) == domain
