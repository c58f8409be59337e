"""Laws of every remote signer: few at a time, never for long, and only our own signatures."""

import asyncio

import pytest

from laneway.core.errors import SignerRefused, SignerUnreachable
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HALF_N, N, address, recover, sign
from laneway.signers.remote import RequestGate, proven

SECRET = b"\x46" * 32
DIGEST = keccak(b"payload")


def test_either_s_proves_the_same_signature() -> None:
    signed = sign(DIGEST, SECRET)
    for s in (signed.s, N - signed.s):
        checked = proven("k", address(SECRET), DIGEST, signed.r, s)
        assert checked == signed
        assert checked.s <= HALF_N
        assert recover(DIGEST, checked) == address(SECRET)


def test_both_parities_are_found() -> None:
    parities = set()
    for number in range(20):
        digest = keccak(bytes([number]))
        signed = sign(digest, SECRET)
        assert proven("k", address(SECRET), digest, signed.r, signed.s) == signed
        parities.add(signed.y_parity)
    assert parities == {0, 1}


@pytest.mark.parametrize(("r", "s"), [(0, 1), (1, 0), (N, 1), (1, N), (5, 1), (2**256, 1), (-1, 1)])
def test_numbers_that_are_no_signature_are_refused(r: int, s: int) -> None:
    with pytest.raises(SignerRefused):
        proven("k", address(SECRET), DIGEST, r, s)


def test_a_signature_by_another_key_or_of_another_payload_is_refused() -> None:
    other = sign(DIGEST, b"\x07" * 32)
    with pytest.raises(SignerRefused, match="is not one of 0x9d8A62f656a8d1615C1294fd71e9"):
        proven("k", address(SECRET), DIGEST, other.r, other.s)
    elsewhere = sign(keccak(b"another"), SECRET)
    with pytest.raises(SignerRefused):
        proven("k", address(SECRET), DIGEST, elsewhere.r, elsewhere.s)


def test_only_so_many_are_inside_at_once() -> None:
    inside = most = 0

    async def ask() -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        return 7

    async def main() -> None:
        gate = RequestGate("k", inflight_max=4)
        answers = await asyncio.gather(*(gate.through(ask) for _ in range(100)))
        assert answers == [7] * 100

    asyncio.run(main())
    assert most == 4


def test_a_hanging_signer_costs_all_who_wait_one_limit_and_not_the_sum() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        gate = RequestGate("k", inflight_max=2, sign_ms=50)
        answers = await asyncio.gather(
            *(gate.through(hang) for _ in range(20)), return_exceptions=True
        )
        assert {str(answer) for answer in answers} == {
            "k gave no signature: no answer in 0.05 s; ask again later"
        }

        async def answer() -> int:
            return 1

        # All turns were given back.
        assert await asyncio.gather(*(gate.through(answer) for _ in range(3))) == [1, 1, 1]

    asyncio.run(main())


def test_more_than_may_wait_are_sent_away_at_once() -> None:
    async def main() -> None:
        over = asyncio.Event()
        gate = RequestGate("k", inflight_max=1, waiting_max=1)
        waiting = [asyncio.create_task(gate.through(over.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(SignerUnreachable, match="2 requests wait for it already"):
            await gate.through(over.wait)
        over.set()
        assert await asyncio.gather(*waiting) == [True, True]

    asyncio.run(main())


def test_a_cancelled_request_gives_its_turn_back() -> None:
    async def main() -> None:
        over = asyncio.Event()
        gate = RequestGate("k", inflight_max=1, waiting_max=0)
        task = asyncio.create_task(gate.through(over.wait))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        over.set()
        assert await gate.through(over.wait)
        gate.close()
        with pytest.raises(SignerUnreachable, match="closed"):
            await gate.through(over.wait)

    asyncio.run(main())
