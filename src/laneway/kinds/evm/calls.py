"""The library's short forms for EVM accounts."""

from typing import Any

from laneway.core.errors import IntentNotFound
from laneway.kinds.evm.served import EvmServed
from laneway.kinds.handle import Handle
from laneway.kinds.served import Calls
from laneway.wire.evm import EvmPayload


class EvmCalls(Calls):
    @property
    def evm(self) -> EvmServed:
        return self._served(EvmServed)

    async def send(
        self,
        /,
        lane: str,
        *,
        to: str | None = None,
        value: int | str = 0,
        data: str | bytes = b"",
        key: str | None = None,
        valid_until_ms: int | None = None,
        **options: Any,
    ) -> Handle:
        """Queue one transaction of an EVM account; returns when it is durable.

        `lane` is `evm:CHAIN:ACCOUNT`; amounts are wei or words like "0.5 ether". In place of `data`
        a call may be said in words: `call="transfer(address,uint256)"` and `args`, or a function's
        name with `abi` (a file's name, JSON, or a list of entries or signatures); `deploy` is a
        contract's code, and `args` then its constructor's. The other options are the API's: gas,
        type, max_fee_per_gas, max_priority_fee_per_gas, max_cost, access_list, authorization_list,
        blobs. Safe to call twice with one key.
        """
        request = {"to": to, "value": value, "data": data, **options}
        return await self.evm.submit(lane, request, key=key, valid_until_ms=valid_until_ms)

    async def bump(self, intent: str, *, reason: str = "", by: str = "") -> None:
        """Offer more for an account's transaction that is out, at the same nonce."""
        await self.command(intent, "bump", reason=reason, by=by)

    async def replace(
        self, intent: str, payload: EvmPayload, *, reason: str = "", by: str = ""
    ) -> None:
        """Other content for an account's transaction, at the same nonce; whichever lands
        decides."""
        if await self.kind_of(intent) is not self.evm:
            raise IntentNotFound(intent)
        await self.command(intent, "replace", payload, reason=reason, by=by)

    async def reset_nonce(self, lane: str, *, reason: str = "", by: str = "") -> None:
        """Back to what the chain says, never below a number that may still be used."""
        await self.command_lane(lane, "reset-nonce", reason=reason, by=by)
