"""A signer over HTTP: Web3Signer's interface of execution-layer keys, which others speak too.

It is sent the payload and hashes it by itself. Its answers are never shown: one who holds keys
may say more than it should.
"""

import asyncio
import re

import msgspec
from aiohttp import ClientError, ClientTimeout
from msgspec import json
from yarl import URL

from laneway.core.errors import SignerRefused, SignerUnreachable
from laneway.core.nesting import bounded
from laneway.core.urls import shown_url
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import Signature, address_of
from laneway.signers.addresses import checksummed, parse_address
from laneway.signers.limits import (
    ANSWER_BYTES_MAX,
    CONNECT_MS,
    INFLIGHT_MAX,
    KEEPALIVE_S,
    SIGN_MS,
)
from laneway.signers.place import SignerUnusable
from laneway.signers.remote import RequestGate, proven
from laneway.wire.http_session import HttpSession, read_body

SIGN = "api/v1/eth1/sign"
PUBLIC_KEYS = "api/v1/eth1/publicKeys"

REFUSALS = frozenset((400, 403, 412, 413, 422))
"""What says no to this request. All else, a missing key (404) or password (401) included, can be
fixed while the request waits: Web3Signer answers 404 also while it still loads its keys."""

_SIGNATURE = re.compile(rb'\s*"?0x([0-9a-fA-F]{130})"?\s*')
_PUBLIC_KEY = re.compile(r"(?:0x)?(?:04)?([0-9a-fA-F]{128})")


class Web3Signer:
    """One key of one server. Its session is opened by the first call, inside the running loop."""

    def __init__(
        self, url: str, holder: str, *, inflight_max: int = INFLIGHT_MAX, sign_ms: int = SIGN_MS
    ) -> None:
        """`holder` is the account's address, or its public key, which saves asking for it."""
        self._url = signer_url(url)
        self.name = f"web3signer:{shown_url(str(self._url))}"
        self.address, self._identifier = parse_holder(self.name, holder)
        self._gate = RequestGate(self.name, inflight_max=inflight_max, sign_ms=sign_ms)
        self._looking = asyncio.Lock()
        self._timeout = ClientTimeout(total=None, sock_connect=CONNECT_MS / 1000)
        json_ = {"Content-Type": "application/json"}
        self._session = HttpSession(inflight_max, KEEPALIVE_S, json_)

    async def sign(self, payload: bytes) -> Signature:
        return await self._gate.through(lambda: self._sign(payload))

    async def close(self) -> None:
        self._gate.close()
        await self._session.close()

    def __repr__(self) -> str:
        return f"Web3Signer({self.name}, {checksummed(self.address)})"

    async def _sign(self, payload: bytes) -> Signature:
        identifier = self._identifier or await self._look_up()
        body = json.encode({"data": f"0x{payload.hex()}"})
        status, answer = await self._call("POST", f"{SIGN}/{identifier}", body)
        if status in REFUSALS:
            raise SignerRefused(self.name, f"HTTP {status}; its own log says why")
        if status == 404:
            raise SignerUnreachable(self.name, f"it holds no key of {checksummed(self.address)}")
        if status != 200:
            raise SignerUnreachable(self.name, f"HTTP {status}; its own log says why")
        found = _SIGNATURE.fullmatch(answer)
        if found is None:
            raise SignerRefused(self.name, "its answer is not a signature")
        # Its v is not needed: the parity is whichever recovers to our address.
        r, s = int(found[1][:64], 16), int(found[1][64:128], 16)
        return proven(self.name, self.address, keccak(payload), r, s)

    async def _look_up(self) -> str:
        """Web3Signer names keys by their public key, people by their address."""
        async with self._looking:
            if self._identifier is not None:
                return self._identifier
            status, answer = await self._call("GET", PUBLIC_KEYS, None)
            if status in (404, 405):
                # One that has no list may know the address itself.
                self._identifier = f"0x{self.address.hex()}"
            elif status != 200:
                raise SignerUnreachable(self.name, f"HTTP {status}; its own log says why")
            else:
                self._identifier = self._among(answer)
            return self._identifier

    def _among(self, answer: bytes) -> str:
        try:
            keys = json.decode(bounded(answer), type=list[str])
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise SignerUnreachable(self.name, "its list of public keys is unreadable") from None
        for key in keys:
            found = _PUBLIC_KEY.fullmatch(key)
            if found and address_of(b"\x04" + bytes.fromhex(found[1])) == self.address:
                return key
        raise SignerUnreachable(self.name, f"it holds no key of {checksummed(self.address)}")

    async def _call(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        session = self._session.opened()
        try:
            # A redirect would show the payload to someone else, so none is followed.
            async with session.request(
                method, self._url / path, data=body, timeout=self._timeout, allow_redirects=False
            ) as response:
                raw = await read_body(response.content, ANSWER_BYTES_MAX)
                if raw is None:
                    raise SignerUnreachable(self.name, "its answer does not end")
                return response.status, raw
        except (ClientError, OSError) as error:
            # Their messages may carry the URL, and with it a password.
            raise SignerUnreachable(self.name, f"no connection ({type(error).__name__})") from None


def signer_url(text: str) -> URL:
    try:
        url = URL(text)
    except ValueError:
        url = URL()
    if url.scheme not in ("http", "https") or not url.host or url.query_string:
        raise SignerUnusable("web3signer", "say web3signer:http://HOST:PORT#ADDRESS")
    return url


def parse_holder(name: str, holder: str) -> tuple[bytes, str | None]:
    """The account, and what the server calls it if that is known."""
    found = _PUBLIC_KEY.fullmatch(holder)
    if found:
        return address_of(b"\x04" + bytes.fromhex(found[1])), f"0x{found[1].lower()}"
    address = parse_address(holder)
    if address is None:
        problem = "after # belongs the account's address (or its public key), and this is neither"
        raise SignerUnusable(name, problem)
    return address, None
