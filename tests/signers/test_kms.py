"""Laws of the key store's signer: DER comes in, with either s; our signature goes out."""

import asyncio

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.signers.stage import FakeKms

from laneway.core.errors import SignerError, SignerRefused, SignerUnreachable
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HALF_N, address, recover
from laneway.signers.kms import KmsSigner, open_kms
from laneway.signers.place import SignerUnusable

SECRET = b"\x46" * 32
PAYLOAD = b"\x02 a transaction"
SPKI = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def signer(kms: FakeKms, *, sign_ms: int = 5_000) -> KmsSigner:
    return KmsSigner("alias/hot", kms, kms.public_der(), sign_ms=sign_ms)


@pytest.mark.parametrize("s", ["high", "low", "any"])
def test_a_signature_with_either_s_becomes_ours(s: str) -> None:
    async def main() -> None:
        kms = FakeKms(SECRET, s=s)  # type: ignore[arg-type]
        opened = await open_kms("alias/hot", kms)
        assert opened.address == address(SECRET)
        for number in range(30):
            payload = PAYLOAD + bytes([number])
            signed = await opened.sign(payload)
            assert signed.s <= HALF_N
            assert recover(keccak(payload), signed) == address(SECRET)
            assert kms.asked[-1] == ("alias/hot", keccak(payload))
        await opened.close()
        with pytest.raises(SignerUnreachable, match="closed"):
            await opened.sign(PAYLOAD)

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "00",
        "3006020101020101",  # Small numbers, well written: no signature of ours.
        "3006020100020101",  # r = 0
        "300602010102010100",  # Something behind it.
        "300702020001020101",  # A zero too many in r.
        "3006020181020101",  # A negative r.
        "308106020101020101",  # A length in the long form.
        "3005020101020101",  # A length that is too short.
        "3003020101",  # No s.
        "3009020101020101020101",  # A third number.
        "3080020101020101 0000",  # Indefinite length, which is BER.
    ],
)
def test_what_is_not_strict_der_of_our_signature_is_refused(answer: str) -> None:
    kms = FakeKms(SECRET)
    kms.answer = bytes.fromhex(answer)
    with pytest.raises(SignerRefused):
        asyncio.run(signer(kms).sign(PAYLOAD))


def test_a_signature_of_another_key_is_refused() -> None:
    kms, other = FakeKms(SECRET), FakeKms(b"\x07" * 32)
    mixed = KmsSigner("alias/hot", other, kms.public_der())
    with pytest.raises(SignerRefused, match="is not one of 0x9d8A62f656a8d1615C1294fd71e9"):
        asyncio.run(mixed.sign(PAYLOAD))


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (RuntimeError("ThrottlingException"), SignerUnreachable, "RuntimeError: Throttling"),
        (ConnectionResetError("reset"), SignerUnreachable, "ConnectionResetError"),
        (SignerRefused("k", "the policy forbids it"), SignerRefused, "the policy forbids it"),
    ],
)
def test_foreign_errors_mean_later_unless_they_say_never(
    error: Exception, expected: type[SignerError], words: str
) -> None:
    kms = FakeKms(SECRET)
    kms.error = error
    with pytest.raises(expected, match=words):
        asyncio.run(signer(kms).sign(PAYLOAD))
    with pytest.raises(expected, match=words):
        asyncio.run(open_kms("alias/hot", kms))


@pytest.mark.parametrize("answer", ["3006", 7, [48, 6]])
def test_an_answer_that_is_no_bytes_means_later(answer: object) -> None:
    kms = FakeKms(SECRET)
    kms.answer = answer  # type: ignore[assignment]
    with pytest.raises(SignerUnreachable, match="not with bytes"):
        asyncio.run(signer(kms).sign(PAYLOAD))


def test_a_hanging_key_store_is_given_up_in_time() -> None:
    kms = FakeKms(SECRET)
    kms.hangs = True
    with pytest.raises(SignerUnreachable, match=r"no answer in 0\.05 s"):
        asyncio.run(signer(kms, sign_ms=50).sign(PAYLOAD))


def test_a_key_of_another_curve_is_refused_when_it_is_opened() -> None:
    keys = [
        (ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(*SPKI), "secp256k1"),
        (ed25519.Ed25519PrivateKey.generate().public_key().public_bytes(*SPKI), "secp256k1"),
        (b"nonsense", "not DER"),
    ]
    for public, words in keys:
        with pytest.raises(SignerUnusable, match=words):
            KmsSigner("alias/hot", FakeKms(SECRET), public)


def test_it_shows_its_key_id_and_account() -> None:
    shown = repr(signer(FakeKms(SECRET)))
    assert shown == "KmsSigner(aws-kms:alias/hot, 0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F)"
