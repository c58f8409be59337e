"""What was mined of a transaction whose content was replaced."""

import pytest
from msgspec.structs import replace

from laneway.core.ids import LaneId, intent_id
from laneway.core.units import amount
from laneway.engine.eoa.drafts import encode_request
from laneway.evm.envelope import encode_network
from laneway.evm.secp256k1 import sign
from laneway.evm.transaction import (
    Access,
    Authorization,
    DynamicFeeTransaction,
    SetCodeTransaction,
    Transaction,
    signed,
)
from laneway.kinds.evm.views import mined_content, mined_of
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.rows import Attempt, History, Inclusion, Purpose, Slot
from laneway.ports import EvmRequest

TO, OWN = b"\x11" * 20, b"\x22" * 20
LANE = LaneId(f"evm:1:0x{OWN.hex()}")
FIRST, LAST = EvmRequest(TO, amount(1)), EvmRequest(TO, amount(3))
SLOT = Slot(1, intent_id(1, bytes(10)), 1, 0, 10, 7, 1, content=2)
PAYLOAD: bytes = encode_request(LAST)


def history(content: int, purpose: str = Purpose.INTENT, raw: bytes = b"") -> History:
    """A finished slot whose only attempt was mined with this content."""
    attempt = Attempt(1, 1, b"h", purpose, EvmFee(9, 2), 21_000, 1, (), raw=raw, content=content)
    return History(replace(SLOT, seen=Inclusion(1, 5, b"b", True)), (attempt,), PAYLOAD)


@pytest.mark.parametrize(
    ("ended", "value"),
    [(history(0), "1"), (history(2), "3"), (history(1, Purpose.CANCEL), "0")],
)
def test_the_mined_content_is_the_mined_attempts_own(ended: History, value: str) -> None:
    mined = mined_of(mined_content(FIRST, ended, LANE))
    assert mined is not None
    assert (mined.value, mined.gas, mined.max_fee_per_gas) == (value, "21000", "9")
    assert (mined.to or "").lower() == "0x" + ("22" if value == "0" else "11") * 20


@pytest.mark.parametrize(
    "transaction",
    [
        DynamicFeeTransaction(1, 7, 2, 9, 21_000, TO, 2, b"\x05", (Access(OWN, (b"\x01" * 32,)),)),
        SetCodeTransaction(1, 7, 2, 9, 21_000, TO, 2, b"\x05", (), (Authorization(1, OWN, 3),)),
    ],
)
def test_a_content_between_the_first_and_the_last_is_read_from_its_bytes(
    transaction: Transaction,
) -> None:
    raw = encode_network(signed(transaction, sign(b"\x01" * 32, b"\x02" * 32)))
    mined = mined_of(mined_content(FIRST, history(1, raw=raw), LANE))
    assert mined is not None
    assert (mined.value, mined.data, mined.type) == ("2", "0x05", transaction.type)
    assert bool(mined.access_list) != bool(mined.authorization_list)


def test_what_was_not_mined_or_not_kept_is_not_guessed() -> None:
    assert mined_of(mined_content(FIRST, None, LANE)) is None
    assert mined_of(mined_content(FIRST, replace(history(0), attempts=()), LANE)) is None
    assert mined_of(mined_content(FIRST, replace(history(0), slot=SLOT), LANE)) is None
    assert mined_of(mined_content(FIRST, history(1), LANE)) is None, (
        "the first release kept no bytes"
    )
