"""Laws of the signer over HTTP, against a server that behaves as Web3Signer does, or worse."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.signers.stage import FakeWeb3Signer, Mood, public_key, web3signer

from laneway.core.errors import SignerRefused, SignerUnreachable
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import address, sign
from laneway.ports import PromptSigner, Signer
from laneway.signers import web3signer as module
from laneway.signers.addresses import checksummed
from laneway.signers.place import SignerUnusable
from laneway.signers.web3signer import Web3Signer

SECRET = b"\x46" * 32
ADDRESS = checksummed(address(SECRET))
PAYLOAD = b"\x02 a transaction"
SIGNED = sign(keccak(PAYLOAD), SECRET)


def told(
    story: Callable[[FakeWeb3Signer, Web3Signer], Awaitable[None]],
    holder: str = ADDRESS,
    *,
    sign_ms: int = 5_000,
    inflight_max: int = 64,
) -> None:
    async def main() -> None:
        async with web3signer(SECRET) as fake:
            signer = Web3Signer(fake.url, holder, sign_ms=sign_ms, inflight_max=inflight_max)
            try:
                await story(fake, signer)
            finally:
                await signer.close()

    asyncio.run(main())


def test_the_payload_goes_out_and_our_signature_comes_back() -> None:
    async def story(fake: FakeWeb3Signer, signer: Signer) -> None:
        assert await signer.sign(PAYLOAD) == SIGNED
        assert fake.asked == [PAYLOAD]
        assert signer.address == address(SECRET)
        assert not isinstance(signer, PromptSigner)

    told(story)


@pytest.mark.parametrize("mood", ["high s", "json", "odd v"])
def test_other_ways_to_write_the_same_signature_are_understood(mood: Mood) -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.mood = mood
        assert await signer.sign(PAYLOAD) == SIGNED

    told(story)


def test_the_public_key_is_looked_up_once_for_hundreds() -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        payloads = [bytes([number, number]) for number in range(100)]
        answers = await asyncio.gather(*map(signer.sign, payloads))
        assert answers == [sign(keccak(payload), SECRET) for payload in payloads]
        assert fake.listed_count == 1
        assert fake.inside_max <= 8

    told(story, inflight_max=8)


def test_a_public_key_needs_no_look_up() -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        assert await signer.sign(PAYLOAD) == SIGNED
        assert fake.listed_count == 0
        assert signer.address == address(SECRET)

    told(story, public_key(SECRET))


def test_a_server_without_a_list_is_asked_by_address() -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.list_status = 404
        fake.by_address = True
        assert await signer.sign(PAYLOAD) == SIGNED

    told(story)


@pytest.mark.parametrize("mood", ["wrong key", "garbage"])
def test_a_signature_that_is_not_ours_is_refused(mood: Mood) -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.mood = mood
        with pytest.raises(SignerRefused):
            await signer.sign(PAYLOAD)

    told(story)


@pytest.mark.parametrize("status", [400, 403, 412, 413, 422])
def test_a_no_to_the_request_is_final(status: int) -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.status = status
        with pytest.raises(SignerRefused, match=f"HTTP {status}; its own log says why"):
            await signer.sign(PAYLOAD)

    told(story)


@pytest.mark.parametrize("status", [302, 401, 408, 429, 500, 502, 503])
def test_whatever_can_be_mended_while_the_request_waits_is_asked_again(status: int) -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.status = status
        with pytest.raises(SignerUnreachable, match=f"HTTP {status}"):
            await signer.sign(PAYLOAD)
        fake.status = None
        assert await signer.sign(PAYLOAD) == SIGNED

    told(story)


def test_a_key_that_is_not_loaded_may_come() -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        held, fake.keys = fake.keys, []
        with pytest.raises(SignerUnreachable, match=f"holds no key of {ADDRESS}"):
            await signer.sign(PAYLOAD)
        fake.keys = held
        assert await signer.sign(PAYLOAD) == SIGNED
        fake.keys = []
        with pytest.raises(SignerUnreachable, match=f"holds no key of {ADDRESS}"):
            await signer.sign(PAYLOAD)

    told(story)


def test_a_list_that_cannot_be_read_is_asked_for_again() -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.list_status = 500
        with pytest.raises(SignerUnreachable, match="HTTP 500"):
            await signer.sign(PAYLOAD)
        fake.list_status = 200
        held, fake.keys = fake.keys, [1]  # type: ignore[list-item]
        with pytest.raises(SignerUnreachable, match="unreadable"):
            await signer.sign(PAYLOAD)
        fake.keys = held
        assert await signer.sign(PAYLOAD) == SIGNED

    told(story)


def test_a_hanging_server_is_given_up_in_time() -> None:
    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.mood = "hang"
        with pytest.raises(SignerUnreachable, match=r"no answer in 0\.05 s"):
            await signer.sign(PAYLOAD)

    told(story, sign_ms=50)


def test_a_cut_connection_and_an_endless_answer_are_no_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "ANSWER_BYTES_MAX", 100_000)

    async def story(fake: FakeWeb3Signer, signer: Web3Signer) -> None:
        fake.mood = "reset"
        with pytest.raises(SignerUnreachable, match="no connection"):
            await signer.sign(PAYLOAD)
        fake.mood = "endless"
        with pytest.raises(SignerUnreachable, match="does not end"):
            await signer.sign(PAYLOAD)

    told(story)


def test_nobody_there_is_unreachable_and_so_is_a_closed_signer() -> None:
    async def main() -> None:
        signer = Web3Signer("http://127.0.0.1:1", ADDRESS)
        with pytest.raises(SignerUnreachable, match="no connection"):
            await signer.sign(PAYLOAD)
        await signer.close()
        with pytest.raises(SignerUnreachable, match="closed"):
            await signer.sign(PAYLOAD)

    asyncio.run(main())


def test_a_password_in_the_url_is_used_and_not_shown() -> None:
    async def main() -> None:
        async with web3signer(SECRET) as fake:
            url = fake.url.replace("://", "://ann:hunter2@")
            signer = Web3Signer(url, ADDRESS)
            assert await signer.sign(PAYLOAD) == SIGNED
            assert fake.authorization == "Basic YW5uOmh1bnRlcjI="
            shown = fake.url.replace("://", "://(redacted)@")
            assert repr(signer) == f"Web3Signer(web3signer:{shown}, {ADDRESS})"
            fake.status = 500
            with pytest.raises(SignerUnreachable) as caught:
                await signer.sign(PAYLOAD)
            assert "hunter2" not in str(caught.value)
            await signer.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "url", ["", "localhost:9000", "ftp://a", "http://", "http://a?b=c", "http://["]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(SignerUnusable, match="web3signer:http://HOST:PORT#ADDRESS"):
        Web3Signer(url, ADDRESS)


@pytest.mark.parametrize("holder", ["", "0x12", ADDRESS.replace("8A", "8a"), "11" * 32])
def test_what_names_no_account_is_refused(holder: str) -> None:
    with pytest.raises(SignerUnusable) as caught:
        Web3Signer("http://127.0.0.1:9000", holder)
    assert "after # belongs the account's address" in str(caught.value)
    assert not holder or holder not in str(caught.value)
