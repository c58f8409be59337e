"""Fields are read by their one form, and refused by their name."""

from hashlib import sha256

import pytest

from laneway.evm.errors import (
    FieldOverflow,
    InvalidTransaction,
    MalformedField,
    SidecarMismatch,
    WrongFieldCount,
)
from laneway.evm.fields import (
    accesses,
    authorizations,
    blob_hash,
    check_sidecar,
    data,
    elements,
    fixed,
    hashes,
    number,
    recipient,
    sidecar,
)
from laneway.evm.limits import BLOB_BYTES, CELL_PROOFS_PER_BLOB
from laneway.evm.rlp import Item
from laneway.evm.transaction import Access, Authorization, Sidecar

TO = b"\x35" * 20
HASH = b"\x01" * 32
BLOB = bytes(BLOB_BYTES)
POINT = b"\xc0" + bytes(47)


def test_a_field_of_the_right_form_is_read() -> None:
    assert number(b"", "nonce", 64) == 0
    assert number(b"\xff" * 8, "nonce", 64) == 2**64 - 1
    assert recipient(TO) == TO
    assert recipient(b"") is None
    assert accesses(((TO, (HASH,)), (TO, ()))) == (Access(TO, (HASH,)), Access(TO))
    grant = (b"", TO, b"\x05", b"\x01", b"\x02", b"\x03")
    assert authorizations((grant,)) == (Authorization(0, TO, 5, 1, 2, 3),)
    assert hashes((HASH, HASH), "blob_hashes") == (HASH, HASH)


@pytest.mark.parametrize(
    ("refusal", "field"),
    [
        (lambda: data((), "data"), "data"),
        (lambda: elements(b"", "access_list"), "access_list"),
        (lambda: number(b"\x00", "nonce", 64), "nonce"),
        (lambda: number(b"\x00\x01", "nonce", 64), "nonce"),
        (lambda: fixed(b"\x01" * 31, "key", 32), "key"),
        (lambda: recipient(b"\x01" * 19), "to"),
        (lambda: recipient(()), "to"),
        (lambda: accesses(((TO + b"\x01", ()),)), "access_list.address"),
        (lambda: accesses(((TO, (HASH + b"\x01",)),)), "access_list.keys"),
        (lambda: sidecar((b"\x02", (), (), ())), "sidecar.version"),
        (lambda: sidecar(((b"",), (), ())), "sidecar.blobs"),
    ],
)
def test_a_field_of_another_form_is_refused_by_its_name(refusal: object, field: str) -> None:
    assert callable(refusal)
    with pytest.raises(MalformedField) as refused:
        refusal()
    assert refused.value.operands["field"] == field


def test_a_number_that_is_too_wide_is_refused() -> None:
    with pytest.raises(FieldOverflow) as refused:
        number(b"\x01" + bytes(8), "nonce", 64)
    assert refused.value.operands == {"field": "nonce", "bits": 64}


@pytest.mark.parametrize("items", [(), ((), ()), ((), (), (), (), ())])
def test_a_list_has_as_many_items_as_it_says(items: tuple[Item, ...]) -> None:
    with pytest.raises(WrongFieldCount):
        elements((b"",), "access_list", 2)
    with pytest.raises(WrongFieldCount):
        sidecar(items)


def test_a_sidecar_has_two_versions() -> None:
    assert sidecar(((BLOB,), (POINT,), (POINT,))) == Sidecar(0, (BLOB,), (POINT,), (POINT,))
    assert sidecar((b"\x01", (), (), ())) == Sidecar(1, (), (), ())


def test_a_sidecar_belongs_to_the_hashes_that_were_signed() -> None:
    named = (blob_hash(POINT),)
    assert named[0] == b"\x01" + sha256(POINT).digest()[1:]
    cells = (POINT,) * CELL_PROOFS_PER_BLOB
    check_sidecar(Sidecar(0, (BLOB,), (POINT,), (POINT,)), named)
    check_sidecar(Sidecar(1, (BLOB,), (POINT,), cells), named)
    for wrong in (
        Sidecar(0, (), (POINT,), (POINT,)),
        Sidecar(0, (BLOB,), (), (POINT,)),
        Sidecar(0, (BLOB,), (POINT,), cells),
        Sidecar(1, (BLOB,), (POINT,), (POINT,)),
        Sidecar(0, (BLOB,), (POINT[::-1],), (POINT,)),
    ):
        with pytest.raises(SidecarMismatch):
            check_sidecar(wrong, named)
    assert issubclass(SidecarMismatch, InvalidTransaction)
