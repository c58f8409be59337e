"""An EVM devnet without its socket, which mines when it is told to, and what was sent to it."""

from typing import Any

import pytest
from tests.anvil import KEYS, address, signed

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.wire.rpc_server.methods import RpcRefused

SEND = "eth_sendRawTransaction"
SENDER = "0x" + address().hex()
OTHER = "0x" + address(KEYS[1]).hex()
BARE = "0x" + "11" * 20


class Node:
    """One devnet."""

    def __init__(self, *, executes: bool = True, **options: Any) -> None:
        self.devnet = EvmDevnet(block_ms=None, executes=executes, **options)

    def say(self, method: str, *params: object) -> Any:
        return self.devnet.say(method, *params)

    def send(self, nonce: int, **fields: Any) -> str:
        raw, digest = signed(nonce, **fields)
        assert self.say(SEND, "0x" + raw.hex()) == "0x" + digest.hex()
        return "0x" + digest.hex()

    def count(self, tag: object = "latest") -> int:
        return int(self.say("eth_getTransactionCount", SENDER, tag), 16)

    def refusal(self, method: str, *params: object) -> RpcRefused:
        with pytest.raises(RpcRefused) as no:
            self.say(method, *params)
        return no.value
