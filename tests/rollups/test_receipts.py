"""What a builder answers can be sent to another process and read there."""

from msgspec import msgpack

from laneway.rollups.receipts import (
    AccountState,
    AccountView,
    At,
    BlockStage,
    BlockView,
    TransactionReceipt,
)

ACCOUNT = AccountView(
    asked=AccountState(5, 1),
    final=AccountState(),
    number=7,
    at="safe",
    nonce=2,
    is_newest=True,
)
RECEIPT = TransactionReceipt(
    hash=b"t",
    number=7,
    block=b"b",
    index=0,
    status="ok",
    package_hash=b"",
    is_canonical=False,
    is_final=False,
)
BLOCK = BlockView(
    number=7,
    hash=b"b",
    parent=b"a",
    pre_root=b"1",
    post_root=b"2",
    hashes=(b"t",),
    package_hash=b"p",
    is_canonical=True,
    is_final=False,
)


def test_every_answer_survives_the_way_to_another_process() -> None:
    assert msgpack.decode(msgpack.encode(ACCOUNT), type=AccountView) == ACCOUNT
    assert msgpack.decode(msgpack.encode(RECEIPT), type=TransactionReceipt) == RECEIPT
    assert msgpack.decode(msgpack.encode(BLOCK), type=BlockView) == BLOCK


def test_a_later_stage_is_a_higher_number() -> None:
    assert BlockStage.BUILT < BlockStage.ACCUMULATED < BlockStage.FINAL
    assert [at.value for at in At] == ["pending", "latest", "safe", "finalized"]
