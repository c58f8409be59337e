"""A signer in this process: the key is held here, and a signature takes some 30 µs."""

from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldEvmKey, Signature
from laneway.signers.addresses import checksummed


class LocalSigner:
    def __init__(self, name: str, secret: bytes) -> None:
        self.name = name
        self._key = HeldEvmKey(secret)
        self.address = self._key.address

    def sign_now(self, payload: bytes) -> Signature:
        return self._key.sign(keccak(payload))

    async def sign(self, payload: bytes) -> Signature:
        return self.sign_now(payload)

    async def close(self) -> None:
        """Nothing is open."""

    def __repr__(self) -> str:
        return f"LocalSigner({self.name}, {checksummed(self.address)})"
