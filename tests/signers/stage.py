"""Remote signers beside the test: a Web3Signer on loopback and a key store of a cloud."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from aiohttp import web
from coincurve import PrivateKey
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import (
    Prehashed,
    decode_dss_signature,
    encode_dss_signature,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HALF_N, N, sign

Mood = Literal[
    "well", "high s", "json", "odd v", "wrong key", "garbage", "hang", "endless", "reset"
]


def public_key(secret: bytes) -> str:
    key: bytes = PrivateKey(secret).public_key.format(compressed=False)
    return f"0x{key[1:].hex()}"


class FakeWeb3Signer:
    """Answers as Web3Signer does: keys by their public key, text with v of 27 or 28."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret
        self.mood: Mood = "well"
        self.status: int | None = None
        self.list_status = 200
        self.keys = ["0x" + "11" * 64, "nonsense", public_key(secret)]
        self.by_address = False
        self.asked: list[bytes] = []
        self.listed_count = 0
        self.inside = 0
        self.inside_max = 0
        self.authorization: str | None = None
        self.url = ""

    async def list_keys(self, request: web.Request) -> web.Response:
        self.listed_count += 1
        return web.json_response(self.keys, status=self.list_status)

    async def sign(self, request: web.Request) -> web.StreamResponse:
        self.inside += 1
        self.inside_max = max(self.inside, self.inside_max)
        try:
            return await self._answer(request)
        finally:
            self.inside -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.authorization = request.headers.get("Authorization")
        body = await request.json()
        payload = bytes.fromhex(body["data"].removeprefix("0x"))
        self.asked.append(payload)
        if self.status is not None:
            # A server that holds keys and says too much.
            return web.Response(status=self.status, text=f"failed with key {self.secret.hex()}")
        if not self.by_address and request.match_info["identifier"] not in self.keys:
            return web.Response(status=404, text="Resource not found")
        match self.mood:
            case "hang":
                await asyncio.sleep(30)
            case "reset":
                assert request.transport is not None
                request.transport.abort()
            case "endless":
                endless = web.StreamResponse()
                await endless.prepare(request)
                while True:
                    await endless.write(b"0" * 65_536)
            case _:
                pass
        await asyncio.sleep(0)
        return self._signature(payload)

    def _signature(self, payload: bytes) -> web.Response:
        secret = b"\x07" * 32 if self.mood == "wrong key" else self.secret
        signed = sign(keccak(payload), secret)
        v, s = 27 + signed.y_parity, signed.s
        if self.mood == "high s":
            v, s = 27 + (1 - signed.y_parity), N - s
        if self.mood == "odd v":
            v = 99
        text = f"0x{signed.r:064x}{s:064x}{v:02x}"
        if self.mood == "garbage":
            text = "0x1234"
        if self.mood == "json":
            return web.json_response(text)
        return web.Response(text=text)


@asynccontextmanager
async def web3signer(secret: bytes) -> AsyncIterator[FakeWeb3Signer]:
    fake = FakeWeb3Signer(secret)
    app = web.Application()
    app.router.add_get("/api/v1/eth1/publicKeys", fake.list_keys)
    app.router.add_post("/api/v1/eth1/sign/{identifier}", fake.sign)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield fake
    finally:
        await runner.cleanup()


class FakeKms:
    """OpenSSL's curve behind the calls of AWS: random signatures, in DER, with either s."""

    def __init__(self, secret: bytes, *, s: Literal["high", "low", "any"] = "any") -> None:
        self.key = ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256K1())
        self.s = s
        self.answer: bytes | None = None
        self.error: Exception | None = None
        self.hangs = False
        self.asked: list[tuple[str, bytes]] = []

    def public_der(self) -> bytes:
        public = self.key.public_key()
        return public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    async def public_key(self, key_id: str) -> bytes:
        if self.error is not None:
            raise self.error
        return self.public_der()

    async def sign(self, key_id: str, digest: bytes) -> bytes:
        self.asked.append((key_id, digest))
        if self.error is not None:
            raise self.error
        if self.hangs:
            await asyncio.sleep(30)
        if self.answer is not None:
            return self.answer
        r, s = decode_dss_signature(self.key.sign(digest, ec.ECDSA(Prehashed(SHA256()))))
        if (self.s == "high" and s <= HALF_N) or (self.s == "low" and s > HALF_N):
            s = N - s
        return encode_dss_signature(r, s)
