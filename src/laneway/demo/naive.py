"""What most programs do without laneway: when an answer is lost, they read the count and pay again.

The node took the payment whose answer was lost, so the second try pays once more, at the next
nonce. Nothing here is made worse than it is: connections are cut after the node has the request.
"""

from msgspec import json

from laneway.demo.limits import CALL_MS_MAX, NAIVE_TRIES_MAX
from laneway.demo.node import CHAIN_ID, NodeRefused
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule
from laneway.devnets.evm.accounts import EvmDevAccount
from laneway.evm.envelope import sealed, signing_digest
from laneway.evm.secp256k1 import sign
from laneway.evm.transaction import DynamicFeeTransaction, signed
from laneway.wire.hex import octets, read_quantity
from laneway.wire.jsonrpc import RpcAnswerLost, RpcCall, RpcClient, RpcError

LOST = (2, 5, 9)
"""Which of the sends lose their answers."""
GWEI = 10**9


class NaiveSender:
    """One account, one payment after the other."""

    def __init__(self, url: str, account: EvmDevAccount, payee: bytes) -> None:
        self.lost_count = 0
        self._client = RpcClient(url, name="the node")
        self._account = account
        self._payee = payee

    async def pay(self, value: int) -> None:
        for _ in range(NAIVE_TRIES_MAX):
            try:
                nonce = read_quantity(
                    await self._say("eth_getTransactionCount", self._address(), "pending")
                )
                await self._say("eth_sendRawTransaction", octets(self._signed(nonce, value)))
                return
            except RpcAnswerLost:
                self.lost_count += 1  # "It failed, so it is tried again."
        raise NodeRefused("eth_sendRawTransaction", f"no answer in {NAIVE_TRIES_MAX} tries")

    async def close(self) -> None:
        await self._client.close()

    def _address(self) -> str:
        return octets(self._account.address)

    def _signed(self, nonce: int, value: int) -> bytes:
        payment = DynamicFeeTransaction(
            chain_id=CHAIN_ID,
            nonce=nonce,
            tip_wei_max=GWEI,
            fee_wei_max=100 * GWEI,
            gas_limit=21_000,
            to=self._payee,
            value_wei=value,
        )
        signature = sign(signing_digest(payment), self._account.secret)
        return sealed(signed(payment, signature)).raw

    async def _say(self, method: str, *params: object) -> str:
        (answer,) = await self._client.ask([RpcCall(method, params)], CALL_MS_MAX)
        if isinstance(answer, RpcError):
            raise NodeRefused(method, answer.message)
        return json.decode(answer, type=str)


async def pay_naively(url: str, account: EvmDevAccount, payee: bytes, values: list[int]) -> int:
    """Pay each value once, as far as this sender knows; how many answers were lost."""
    rules = [
        Rule(ProxyFault.LOSE_ANSWER, method="eth_sendRawTransaction", nth=number, count=1)
        for number in LOST
    ]
    async with ChaosProxy(url, rules) as proxy:
        sender = NaiveSender(proxy.url, account, payee)
        try:
            for value in values:
                await sender.pay(value)
        finally:
            await sender.close()
    return sender.lost_count
