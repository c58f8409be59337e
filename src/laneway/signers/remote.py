"""What every remote signer needs: a bound on what it is asked, a proof of what it answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from laneway.core.errors import SignerRefused, SignerUnreachable
from laneway.evm.secp256k1 import N, Signature, recover
from laneway.signers.addresses import checksummed
from laneway.signers.limits import INFLIGHT_MAX, SIGN_MS, WAITING_MAX

T = TypeVar("T")


class RequestGate:
    """Lets a few through at a time. The clock of each runs from the moment it asked, so that a
    signer that hangs makes nobody wait for the sum of all that hang before it."""

    def __init__(
        self,
        name: str,
        *,
        inflight_max: int = INFLIGHT_MAX,
        waiting_max: int = WAITING_MAX,
        sign_ms: int = SIGN_MS,
    ) -> None:
        self._name = name
        self._turns = asyncio.Semaphore(inflight_max)
        self._inside = 0
        self._inside_max = inflight_max + waiting_max
        self._sign_ms = sign_ms
        self._closed = False

    async def through(self, ask: Callable[[], Awaitable[T]]) -> T:
        if self._closed:
            raise SignerUnreachable(self._name, "this signer was closed")
        if self._inside >= self._inside_max:
            raise SignerUnreachable(self._name, f"{self._inside} requests wait for it already")
        self._inside += 1
        try:
            async with asyncio.timeout(self._sign_ms / 1000), self._turns:
                return await ask()
        except TimeoutError:
            problem = f"no answer in {self._sign_ms / 1000:g} s"
            raise SignerUnreachable(self._name, problem) from None
        finally:
            self._inside -= 1

    def close(self) -> None:
        self._closed = True


def proven(name: str, address: bytes, digest: bytes, r: int, s: int) -> Signature:
    """The signature with the lower s and the parity that recovers to our address; a signature by
    any other key, or of anything else, is refused."""
    if 0 < r < N and 0 < s < N:
        for parity in (0, 1):
            signature = Signature(parity, r, min(s, N - s))
            if recover(digest, signature) == address:
                return signature
    problem = f"its signature is not one of {checksummed(address)} for this payload"
    raise SignerRefused(name, problem)
