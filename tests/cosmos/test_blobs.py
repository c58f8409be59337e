"""Laws of blobs: namespaces, shares, and commitments that do not depend on how they are made."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from laneway.cosmos.blobs import (
    NAMESPACE_BYTES,
    SHARE_BYTES,
    CelestiaBlob,
    blob_gas,
    check,
    checked_namespace,
    commitment,
    fee_for,
    from_proto,
    merkle_root,
    mountain_sizes,
    namespace_of,
    proto,
    share_count,
    shares,
    subtree_width,
)
from laneway.cosmos.errors import InvalidBlob, InvalidNamespace
from laneway.cosmos.messages import BlobProto

MINE = namespace_of(b"mine")
SIGNER = b"\x05" * 20
sizes = st.integers(1, 5_000)
versions = st.sampled_from([(0, b""), (1, SIGNER)])


@given(sizes, versions)
def test_shares_hold_the_blob_and_are_as_many_as_are_counted(
    size: int, version: tuple[int, bytes]
) -> None:
    data = bytes(place % 251 for place in range(size))
    cut = shares(CelestiaBlob(MINE, data, *version))
    assert len(cut) == share_count(size, version[0])
    assert {len(share) for share in cut} == {SHARE_BYTES}
    assert {share[:NAMESPACE_BYTES] for share in cut} == {MINE}
    infos = [share[NAMESPACE_BYTES] for share in cut]
    assert infos == [version[0] << 1 | 1, *[version[0] << 1] * (len(cut) - 1)]
    first = cut[0][NAMESPACE_BYTES + 1 :]
    assert int.from_bytes(first[:4], "big") == size
    assert first[4:].startswith(version[1])
    body = first[4 + len(version[1]) :] + b"".join(one[NAMESPACE_BYTES + 1 :] for one in cut[1:])
    assert body[:size] == data
    assert not any(body[size:])


@pytest.mark.parametrize(
    ("size", "count"), [(1, 1), (478, 1), (479, 2), (478 + 482, 2), (478 + 483, 3)]
)
def test_share_counts_at_the_edges(size: int, count: int) -> None:
    assert share_count(size) == count


@settings(max_examples=30)
@given(st.integers(1, 60_000), st.sampled_from([1, 2, 64]))
def test_a_commitment_is_the_plain_definition(size: int, threshold: int) -> None:
    """The tree as the specification words it, with every node's bounds carried along."""
    blob = CelestiaBlob(MINE, bytes(place % 7 for place in range(size)))
    leaves = [MINE + MINE + hashlib.sha256(b"\0" + MINE + share).digest() for share in shares(blob)]

    def node(part: list[bytes]) -> bytes:
        if len(part) == 1:
            return part[0]
        split = 1 << (len(part) - 1).bit_length() - 1
        left, right = node(part[:split]), node(part[split:])
        bounds = min(left[:29], right[:29]) + max(left[29:58], right[29:58])
        return bounds + hashlib.sha256(b"\x01" + left + right).digest()

    width = subtree_width(len(leaves), threshold)
    roots, at = [], 0
    for one in mountain_sizes(len(leaves), width):
        roots.append(node(leaves[at : at + one]))
        at += one
    assert commitment(blob, threshold) == merkle_root(roots)


@pytest.mark.parametrize(
    ("count", "width"),
    [(1, 1), (2, 1), (64, 1), (65, 2), (128, 2), (129, 4), (4_097, 128), (2**14, 128)],
)
def test_the_widest_subtree(count: int, width: int) -> None:
    assert subtree_width(count) == width


def test_a_narrow_square_bounds_the_subtree() -> None:
    assert subtree_width(9, threshold=1) == 4


@given(st.integers(1, 10_000), st.integers(0, 8))
def test_mountains_cover_all_and_fall(count: int, power: int) -> None:
    found = mountain_sizes(count, 1 << power)
    assert sum(found) == count
    assert found == sorted(found, reverse=True)
    assert all(size & size - 1 == 0 for size in found)


def test_a_tree_of_nothing_and_of_one() -> None:
    assert merkle_root([]) == hashlib.sha256().digest()
    assert merkle_root([b"x"]) == hashlib.sha256(b"\0x").digest()


def test_a_blob_is_carried_as_it_is() -> None:
    for blob in (CelestiaBlob(MINE, b"data"), CelestiaBlob(MINE, b"data", 1, SIGNER)):
        check(blob)
        assert from_proto(proto(blob)) == blob
    with pytest.raises(InvalidBlob, match="more than a byte"):
        from_proto(BlobProto(namespace_version=256))


@pytest.mark.parametrize(
    ("namespace", "problem"),
    [
        (bytes(28), "29 bytes"),
        (b"\x01" + bytes(27) + b"\x01", "version"),
        (bytes(18) + b"\x01" + bytes(10), "18 zeros"),
        (bytes(28) + b"\x04", "reserved"),
        (bytes(28) + b"\xff", "reserved"),
        (b"\xff" * 29, "version"),
    ],
)
def test_a_namespace_that_no_blob_may_be_in(namespace: bytes, problem: str) -> None:
    with pytest.raises(InvalidNamespace, match=problem):
        checked_namespace(namespace)


def test_a_users_part_has_ten_bytes() -> None:
    assert namespace_of(b"0123456789") == bytes(19) + b"0123456789"
    with pytest.raises(InvalidNamespace, match="up to 10"):
        namespace_of(b"0123456789a")
    with pytest.raises(InvalidNamespace, match="reserved"):
        namespace_of(b"\xff")


@pytest.mark.parametrize(
    ("blob", "problem"),
    [
        (CelestiaBlob(MINE, b""), "empty"),
        (CelestiaBlob(MINE, b"x", 2), "share version 2"),
        (CelestiaBlob(MINE, b"x", 0, SIGNER), "signer has 20"),
        (CelestiaBlob(MINE, b"x", 1, SIGNER[1:]), "signer has 19"),
    ],
)
def test_a_blob_that_no_node_would_take(blob: CelestiaBlob, problem: str) -> None:
    with pytest.raises(InvalidBlob, match=problem):
        check(blob)


def test_a_blob_longer_than_its_length_can_say_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laneway.cosmos.blobs.BLOB_BYTES_MAX", 3)
    check(replace(CelestiaBlob(MINE, b"abc")))
    with pytest.raises(InvalidBlob, match="more bytes"):
        check(CelestiaBlob(MINE, b"abcd"))


NAMESPACE = namespace_of(b"gas")


def blob(size: int, share_version: int = 0) -> CelestiaBlob:
    return CelestiaBlob(NAMESPACE, bytes(size), share_version, bytes(20) if share_version else b"")


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [([1], 1), ([478], 1), ([479], 2), ([478 + 482], 2), ([478 + 483], 3), ([1, 1, 479], 4)],
)
def test_a_blob_costs_by_the_shares_it_takes(sizes: list[int], shares: int) -> None:
    wanted = shares * SHARE_BYTES * 8 + 700 * len(sizes) + 75_000
    assert blob_gas([blob(size) for size in sizes]) == wanted


def test_a_blob_that_names_its_signer_takes_his_twenty_bytes_too() -> None:
    assert blob_gas([blob(458, 1)]) == blob_gas([blob(458)])
    assert blob_gas([blob(459, 1)]) == blob_gas([blob(479)])


@pytest.mark.parametrize(
    ("gas", "price_micro", "fee"),
    [
        (100_000, 4_000, 400),
        (100_001, 4_000, 401),
        (1, 1, 1),
        (1_000_000, 1, 1),
        (1_000_001, 1, 2),
        (0, 4_000, 0),
        (5, 0, 0),
    ],
)
def test_a_fee_is_rounded_up_for_a_node_takes_nothing_below_its_price(
    gas: int, price_micro: int, fee: int
) -> None:
    assert fee_for(gas, price_micro) == fee
