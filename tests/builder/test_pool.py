"""The door lets in by its check alone, and the pool counts where transactions are."""

from collections.abc import Sequence

import pytest

from laneway.builder.pool import Pool, PoolView
from laneway.core.errors import BadRequest


def hashed(raw: bytes) -> bytes:
    if raw == b"bad":
        raise BadRequest("transaction", "it is bad")
    return b"#" + raw


def pool(*raws: bytes, most: int = 100) -> Pool:
    made = Pool(hashed, most)
    for raw in raws:
        made.check(raw)
    return made


def counts(found: Pool) -> Sequence[int]:
    view = found.view()
    return view.waiting, view.built, view.removed


def test_what_passes_the_door_waits_once_under_its_hash() -> None:
    found = pool()
    assert found.check(b"a") == found.check(b"a") == b"#a"
    assert found.view() == PoolView(waiting=1, built=0, removed=0)
    assert (found.is_known(b"#a"), found.is_known(b"#b")) == (True, False)


def test_what_the_check_refuses_is_not_let_in() -> None:
    found = pool()
    with pytest.raises(BadRequest, match="it is bad"):
        found.check(b"bad")
    assert counts(found) == (0, 0, 0)


def test_a_transaction_goes_from_the_door_into_a_block_and_out_on_accumulation() -> None:
    found = pool(b"a", b"b")
    assert found.built([b"#a", b"#c"]) == 2
    assert counts(found) == (1, 2, 0)
    assert found.removed([b"#a"]) == 1
    assert counts(found) == (1, 1, 1)
    assert found.removed([b"#a"]) == 0, "it is told twice"
    assert found.forget([b"#a", b"#x"]) == 1
    assert counts(found) == (1, 1, 0)
    assert not found.is_known(b"#a")


def test_a_removed_transaction_comes_back_with_its_block_until_that_is_final() -> None:
    found = pool(b"a")
    found.built([b"#a"])
    found.removed([b"#a"])
    assert found.restored([b"#a"]) == 1
    assert counts(found) == (0, 1, 0)


def test_a_failed_block_gives_its_transactions_back() -> None:
    found = pool(b"a")
    found.built([b"#a"])
    assert found.returned([b"#a", b""]) == 1, "what is none has no hash"
    assert counts(found) == (1, 0, 0)


def test_a_rival_block_does_not_bring_back_what_is_accumulated() -> None:
    found = pool(b"a")
    found.removed([b"#a"])
    assert found.built([b"#a"]) == 0
    assert counts(found) == (0, 0, 1)


def test_a_refused_transaction_waits_no_longer_and_its_twin_in_a_block_stays() -> None:
    found = pool(b"a", b"b")
    found.built([b"#b"])
    assert found.refused([b"#a", b"#b", b"#x"]) == 1
    assert counts(found) == (0, 1, 0)


def test_the_oldest_are_forgotten_first() -> None:
    found = pool(b"a", b"b", most=2)
    found.built([b"#a"])
    found.check(b"c")
    assert counts(found) == (1, 1, 0)
    assert not found.is_known(b"#b")
