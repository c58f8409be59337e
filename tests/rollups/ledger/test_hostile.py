"""Hostile bytes: every format of the services is read strictly, or refused with the place."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from tests.jam.hostile import Kind, attempt, coded, damaged

from laneway.jam.codec import Codec
from laneway.jam.service.commitment import PEAKS
from laneway.jam.service.values import (
    BLOCK_RECORD,
    CLAIMED,
    HEAD,
    REFUSAL,
    RIVALS,
    AppliedBlock,
    Claim,
    Claimed,
    HeldBlock,
    NoEffectReason,
    ServiceHead,
    ServiceRefusal,
)
from laneway.rollups.ledger.account import ACCOUNT, LedgerEntry
from laneway.rollups.ledger.block import BODY, HEADER, RECEIPTS, LedgerBlock, LedgerHeader
from laneway.rollups.ledger.execution import TransferReceipt, TransferStatus
from laneway.rollups.ledger.state import GENESIS, GenesisAccount
from laneway.rollups.ledger.transfer import TRANSFERS, Transfer
from laneway.rollups.ledger.witness import WITNESS


def hash_of(source: Random) -> bytes:
    return source.randbytes(32)


def u32(source: Random) -> int:
    return source.getrandbits(source.choice((3, 32)))


def u64(source: Random) -> int:
    return source.getrandbits(source.choice((3, 64)))


def claim(source: Random) -> Claim:
    return Claim(
        number=u64(source),
        parent=hash_of(source),
        block=hash_of(source),
        pre_root=hash_of(source),
        post_root=hash_of(source),
    )


def held(source: Random) -> HeldBlock:
    return HeldBlock(
        package_hash=hash_of(source),
        exports_root=hash_of(source),
        slot=u32(source),
        claim=claim(source),
        tail=source.randbytes(source.choice((0, 3, 200))),
    )


def transfer(source: Random) -> Transfer:
    return Transfer(
        sender=hash_of(source),
        recipient=hash_of(source),
        amount=u64(source),
        nonce=u64(source),
        signature=source.randbytes(64),
    )


def receipt(source: Random) -> TransferReceipt:
    return TransferReceipt(hash_of(source), source.choice(list(TransferStatus)))


def header(source: Random) -> LedgerHeader:
    return LedgerHeader(
        number=u64(source),
        parent=hash_of(source),
        timestamp=u32(source),
        pre_root=hash_of(source),
        post_root=hash_of(source),
        transfers_root=hash_of(source),
        receipts_root=hash_of(source),
        count=u32(source),
    )


def some(source: Random, make: Any, most: int = 3) -> tuple[Any, ...]:
    return tuple(make(source) for _ in range(source.randint(0, most)))


def kinds() -> Iterator[Kind]:
    def kind(name: str, codec: Codec[Any], make: Any) -> Kind:
        return coded(name, codec, make)

    yield kind("claimed", CLAIMED, lambda s: Claimed(claim(s), s.randbytes(s.choice((0, 9)))))
    yield kind(
        "head",
        HEAD,
        lambda s: ServiceHead(number=u64(s), block=hash_of(s), state_root=hash_of(s), slot=u32(s)),
    )
    yield kind("rivals", RIVALS, lambda s: some(s, held))
    yield kind(
        "refusal",
        REFUSAL,
        lambda s: ServiceRefusal(
            index=u64(s), number=u64(s), reason=s.choice(list(NoEffectReason)), slot=u32(s)
        ),
    )
    yield kind(
        "block_record",
        BLOCK_RECORD,
        lambda s: AppliedBlock(
            package_hash=hash_of(s), exports_root=hash_of(s), block=hash_of(s), slot=u32(s)
        ),
    )
    yield kind("peaks", PEAKS, lambda s: some(s, lambda s: s.choice((None, hash_of(s))), 9))
    yield kind("account", ACCOUNT, lambda s: LedgerEntry(u64(s), u64(s)))
    yield kind("header", HEADER, header)
    yield kind("transfers", TRANSFERS, lambda s: some(s, transfer))
    yield kind("receipts", RECEIPTS, lambda s: some(s, receipt))
    yield kind("body", BODY, lambda s: LedgerBlock(header(s), some(s, transfer), some(s, receipt)))
    yield kind("witness", WITNESS, lambda s: some(s, lambda s: s.randbytes(64), 5))
    yield kind("genesis", GENESIS, lambda s: some(s, lambda s: GenesisAccount(hash_of(s), u64(s))))


def run(seed: int, count: int) -> set[str]:
    """Damage encodings of every kind; the names of those that were refused."""
    refused: set[str] = set()
    everything = list(kinds())
    for number in range(count):
        source = Random(f"{seed} {number}")
        kind, other = source.choice(everything), source.choice(everything)
        raw = kind.encode(kind.make(source))
        assert attempt(kind, raw)
        if not attempt(kind, damaged(source, raw, other.encode(other.make(source)))):
            refused.add(kind.name)
    return refused


def test_damaged_bytes_are_refused_or_are_the_one_encoding_of_what_they_say() -> None:
    assert run(1, 500) == {kind.name for kind in kinds()}


@pytest.mark.slow
def test_many_damaged_bytes_are_refused_or_are_the_one_encoding_of_what_they_say() -> None:
    assert run(2, 20_000) == {kind.name for kind in kinds()}
