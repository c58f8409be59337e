"""An ERC-20 by web3.py, from its deployment to its traces: one line of JSON for each step.

It is asked as viem.cjs is, and runs in the peers' own environment, without laneway.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from eth_account import Account
from hexbytes import HexBytes
from web3 import AsyncWeb3, HTTPProvider, Web3, WebSocketProvider
from web3.exceptions import ContractCustomError, TransactionNotFound, Web3RPCError
from web3.utils.subscriptions import LogsSubscription, NewHeadsSubscription, PendingTxSubscription

GWEI = 10**9
SUPPLY = 10**24
ALICE, BOB, CAROL, POOR = ("0x" + byte * 20 for byte in ("11", "22", "33", "44"))
FEES = {"maxFeePerGas": 5 * GWEI, "maxPriorityFeePerGas": GWEI, "gas": 60_000}
TOO_LITTLE = "ERC20InsufficientBalance(address,uint256,uint256)"
WAIT_S = 20.0
CODEC = Web3().codec


def function(name: str, takes: str, gives: str, kind: str) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "inputs": parameters(takes),
        "outputs": parameters(gives),
        "stateMutability": kind,
    }


def parameters(types: str) -> list[dict[str, Any]]:
    return [{"type": one, "name": f"it{place}"} for place, one in enumerate(types.split())]


ERC20 = [
    {"type": "constructor", "inputs": parameters("uint256"), "stateMutability": "nonpayable"},
    function("name", "", "string", "view"),
    function("symbol", "", "string", "view"),
    function("decimals", "", "uint8", "view"),
    function("totalSupply", "", "uint256", "view"),
    function("balanceOf", "address", "uint256", "view"),
    function("transfer", "address uint256", "bool", "nonpayable"),
    {
        "type": "event",
        "name": "Transfer",
        "anonymous": False,
        "inputs": [
            {"type": "address", "name": "from", "indexed": True},
            {"type": "address", "name": "to", "indexed": True},
            {"type": "uint256", "name": "value", "indexed": False},
        ],
    },
    {
        "type": "error",
        "name": "ERC20InsufficientBalance",
        "inputs": parameters("address uint256 uint256"),
    },
]


def canonical(value: Any) -> Any:
    """In JSON's terms; numbers beyond a double are decimal strings."""
    if isinstance(value, Mapping):
        return {str(key): canonical(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(one) for one in value]
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return str(value) if isinstance(value, int) and value >= 1 << 53 else value


def told(step: str, **found: Any) -> None:
    line = {"step": step, "found": canonical(found)}
    print(json.dumps(line, sort_keys=True), flush=True)


def until(what: str, is_so: Callable[[], bool]) -> None:
    last_s = time.monotonic() + WAIT_S
    while not is_so():
        if time.monotonic() > last_s:
            raise TimeoutError(what)
        time.sleep(0.02)


def plain(log: Any) -> dict[str, Any]:
    names = ("event", "args", "logIndex", "blockNumber")
    return {name: log[name] for name in names}


def called(call: Mapping[str, Any]) -> dict[str, Any]:
    """Of a tree of calls, without what its node chose."""
    names = ("type", "from", "to", "value", "gas", "gasUsed", "error", "revertReason", "output")
    return {
        **{name: call.get(name) for name in names},
        "input": call["input"][:10],
        "calls": [called(one) for one in call.get("calls", [])],
    }


class Story:
    def __init__(self, url: str, ws_url: str, key: str, code: str) -> None:
        self.ws_url = ws_url
        self.node = Web3(HTTPProvider(url))
        self.account = Account.from_key(key)
        self.owner = self.account.address
        self.code = code
        self.token: Any = None
        self.hashes: dict[str, HexBytes] = {}

    def ask(self, method: str, *params: object) -> Any:
        answer = self.node.provider.make_request(method, list(params))
        if "error" in answer:
            raise Web3RPCError(str(answer["error"]))
        return answer["result"]

    def send(self, call: Any, **fields: Any) -> HexBytes:
        """A transaction of a contract's function, signed here."""
        count = self.node.eth.get_transaction_count(self.owner)
        made = call.build_transaction({"from": self.owner, "nonce": count, **fields})
        return self.send_made(made)

    def send_made(self, made: Any) -> HexBytes:
        signed = self.account.sign_transaction(made)
        return HexBytes(self.node.eth.send_raw_transaction(signed.raw_transaction))

    def mined(self, digest: HexBytes) -> Any:
        return self.node.eth.wait_for_transaction_receipt(digest, poll_latency=0.03)

    def transfer(self, to: str, value: int, **fields: Any) -> HexBytes:
        return self.send(self.token.functions.transfer(to, value), **fields)

    def owned(self, who: str) -> int:
        found: int = self.token.functions.balanceOf(who).call()
        return found

    def tell(self) -> None:
        # The first block's base fee is one that every node has from then on.
        self.ask("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
        eth = self.node.eth
        told(
            "chain",
            id=eth.chain_id,
            height=eth.block_number,
            balance=eth.get_balance(self.owner),
            count=eth.get_transaction_count(self.owner),
        )
        self.deploy()
        self.move()
        self.watch()
        asyncio.run(self.subscribe())
        self.compete()
        self.fail()
        self.override()
        self.trace()
        self.control()

    def deploy(self) -> None:
        factory = self.node.eth.contract(abi=ERC20, bytecode=self.code)
        receipt = self.mined(self.send(factory.constructor(SUPPLY)))
        address = receipt["contractAddress"]
        names = ("blockNumber", "gasUsed", "effectiveGasPrice", "status", "to", "type")
        told(
            "deploy",
            address=address,
            size=len(self.node.eth.get_code(address)),
            nonce=self.node.eth.get_transaction_count(address),
            **{name: receipt[name] for name in names},
        )
        self.hashes["deployed"] = receipt["transactionHash"]
        self.token = self.node.eth.contract(address=address, abi=ERC20)
        views = ("name", "symbol", "decimals", "totalSupply")
        told(
            "read",
            owned=self.owned(self.owner),
            **{name: self.token.functions[name]().call() for name in views},
        )

    def move(self) -> None:
        call = self.token.functions.transfer(ALICE, 5)
        simulated = call.call({"from": self.owner})
        receipt = self.mined(self.send(call))
        self.hashes["moved"] = receipt["transactionHash"]
        sent = self.node.eth.get_transaction(receipt["transactionHash"])
        names = ("status", "gasUsed", "cumulativeGasUsed", "transactionIndex", "logsBloom")
        told(
            "transfer",
            simulated=simulated,
            events=[plain(one) for one in self.token.events.Transfer().process_receipt(receipt)],
            input=self.token.decode_function_input(sent["input"])[1],
            sent=[sent[name] for name in ("from", "to", "value", "nonce", "type")],
            owned=[self.owned(self.owner), self.owned(ALICE)],
            before=self.token.functions.balanceOf(ALICE).call(
                block_identifier=receipt["blockNumber"] - 1
            ),
            **{name: receipt[name] for name in names},
        )
        found = self.token.events.Transfer().get_logs
        told(
            "logs",
            all=[plain(one) for one in found(from_block=0)],
            toAlice=len(found(from_block=0, argument_filters={"to": ALICE})),
            toBob=len(found(from_block=0, argument_filters={"to": BOB})),
            block=len(found(block_hash=receipt["blockHash"])),
        )

    def send_three(self) -> None:
        for to, value in ((BOB, 1), (CAROL, 2), (BOB, 3)):
            self.mined(self.transfer(to, value))

    def watch(self) -> None:
        watched = self.token.events.Transfer().create_filter(
            from_block="latest", argument_filters={"to": BOB}
        )
        blocks = self.node.eth.filter("latest")
        pool = self.node.eth.filter("pending")
        events: list[Any] = []
        self.send_three()
        until("events", lambda: len(events_of(watched, events)) >= 2)
        told(
            "watch by a filter",
            events=events,
            all=[plain(one) for one in watched.get_all_entries()],
            blocks=len(blocks.get_new_entries()),
            pool=len(pool.get_new_entries()),
            again=[len(watched.get_new_entries()), len(blocks.get_new_entries())],
            gone=[self.node.eth.uninstall_filter(watched.filter_id) for _ in range(2)],
        )

    async def subscribe(self) -> None:
        events, heads, pool = [], [], []

        async def on_event(context: Any) -> None:
            events.append(plain(self.token.events.Transfer().process_log(context.result)))

        async def on_head(context: Any) -> None:
            heads.append(context.result["number"])

        async def on_sent(context: Any) -> None:
            pool.append(context.result)

        topic = self.token.events.Transfer().topic
        async with AsyncWeb3(WebSocketProvider(self.ws_url)) as live:
            manager = live.subscription_manager
            to = "0x" + BOB[2:].rjust(64, "0")
            await manager.subscribe(
                [
                    LogsSubscription(
                        address=self.token.address, topics=[topic, None, to], handler=on_event
                    ),
                    NewHeadsSubscription(handler=on_head),
                    PendingTxSubscription(handler=on_sent),
                ]
            )
            listening = asyncio.create_task(manager.handle_subscriptions(run_forever=True))
            await asyncio.to_thread(self.send_three)
            await asyncio.to_thread(
                until,
                "notices",
                lambda: len(events) >= 2 and len(heads) >= 3 and len(pool) >= 3,
            )
            listening.cancel()
            await manager.unsubscribe_all()
        told("watch by a subscription", events=events, heads=heads, pool=len(pool))

    def compete(self) -> None:
        """A transaction that waits is replaced, and another one is cancelled."""
        self.ask("evm_setAutomine", False)
        high = {**FEES, "maxFeePerGas": 9 * GWEI}
        for step in ("replace", "cancel"):
            nonce = self.node.eth.get_transaction_count(self.owner)
            first = self.transfer(ALICE, 6, **FEES)
            waits = self.node.eth.get_transaction(first)
            pending = self.node.eth.get_transaction_count(self.owner, "pending")
            status = self.node.geth.txpool.status()
            content = self.node.geth.txpool.content()["pending"]
            low = refusal(lambda: self.transfer(ALICE, 8, **{**FEES, "maxFeePerGas": 2 * GWEI}))
            if step == "replace":
                second = self.transfer(ALICE, 7, **high)
            else:
                made = {"chainId": 31_337, "nonce": nonce, "to": self.owner, "value": 0, **high}
                second = self.send_made(made)
            self.ask("evm_mine")
            receipt = self.mined(second)
            told(
                step,
                waits=[waits.get("blockNumber"), waits["nonce"] == nonce],
                pending=pending - nonce,
                status=status,
                content=[
                    [int(n, 16) if n[:2] == "0x" else int(n) for n in of_sender]
                    for of_sender in content.values()
                ],
                low=low,
                receipt=[receipt["status"], receipt["gasUsed"], receipt["effectiveGasPrice"]],
                lost=refusal(partial(self.node.eth.get_transaction_receipt, first)),
                owned=self.owned(ALICE),
                next=self.node.eth.get_transaction_count(self.owner) - nonce,
            )
        self.ask("evm_setAutomine", True)

    def fail(self) -> None:
        refused = refusal(lambda: self.token.functions.transfer(BOB, 1).call({"from": POOR}))
        failed = self.mined(self.transfer(BOB, 2 * SUPPLY, **{**FEES, "gas": 100_000}))
        self.hashes["failed"] = failed["transactionHash"]
        told(
            "revert",
            refused=refused,
            receipt=[failed["status"], failed["gasUsed"], len(failed["logs"])],
        )
        eth, much = self.node.eth, self.token.functions.transfer(BOB, 2 * SUPPLY)
        told(
            "estimate",
            transfer=self.token.functions.transfer(BOB, 1).estimate_gas({"from": self.owner}),
            plain=eth.estimate_gas({"from": self.owner, "to": BOB, "value": 1}),
            refused=refusal(lambda: much.estimate_gas({"from": self.owner})),
        )

    def slot(self) -> str:
        """Where the token keeps Alice's balance."""
        key = CODEC.encode(["address", "uint256"], [ALICE, 0])
        return f"0x{self.node.keccak(key).hex()}"

    def override(self) -> None:
        address, slot = self.token.address, self.slot()
        balance = self.token.functions.balanceOf(ALICE)

        def overridden(**fields: Any) -> Any:
            return balance.call(state_override={address: fields})

        call = {"from": self.owner, "to": address, "data": balance._encode_transaction_data()}
        told(
            "override",
            slot=overridden(stateDiff={slot: "0x" + f"{42:064x}"}),
            all=overridden(state={slot: "0x" + f"{43:064x}"}),
            code=overridden(code="0x602a60005260206000f3"),
            none=balance.call(),
            access=self.node.eth.create_access_list(call),
        )

    def trace(self) -> None:
        def traced(name: str, **options: Any) -> Any:
            digest = "0x" + bytes(self.hashes[name]).hex()
            return self.ask("debug_traceTransaction", digest, options)

        steps = traced("moved")
        told(
            "trace",
            moved=called(traced("moved", tracer="callTracer")),
            failed=called(traced("failed", tracer="callTracer")),
            deployed=called(traced("deployed", tracer="callTracer"))["type"],
            before=traced("moved", tracer="prestateTracer"),
            steps=[
                steps["gas"],
                steps["failed"],
                len(steps["structLogs"]),
                sum(one["gasCost"] for one in steps["structLogs"]),
            ],
        )
        eth, slot = self.node.eth, self.slot()
        told(
            "fees",
            history=eth.fee_history(3, "latest", [25, 75]),
            price=eth.gas_price,
            tip=eth.max_priority_fee,
        )
        proof = dict(eth.get_proof(self.token.address, [int(slot, 16)]))
        levels = len(proof.pop("accountProof")) > 0
        told("proof", levels=levels, **proof)

    def control(self) -> None:
        snapshot = self.ask("evm_snapshot")
        self.ask("anvil_setBalance", BOB, "0x5")
        self.mined(self.transfer(BOB, 100))
        there = self.owned(BOB)
        told(
            "snapshot",
            there=there,
            isBack=self.ask("evm_revert", snapshot),
            again=self.owned(BOB),
            balance=self.node.eth.get_balance(BOB),
            height=self.node.eth.block_number,
        )
        self.ask("anvil_setBalance", ALICE, hex(10**18))
        self.ask("anvil_impersonateAccount", ALICE)
        lent = self.mined(self.token.functions.transfer(CAROL, 1).transact({"from": ALICE}))
        self.ask("anvil_stopImpersonatingAccount", ALICE)
        told("impersonate", lent=[lent["from"], lent["status"], lent["gasUsed"]])


def events_of(watched: Any, events: list[Any]) -> list[Any]:
    events += [plain(one) for one in watched.get_new_entries()]
    return events


def refusal(ask: Callable[[], object]) -> Any:
    """Why it is refused, in the library's own words; an error of the token's in its terms."""
    try:
        return f"answered {ask()!r}"
    except ContractCustomError as error:
        data = bytes.fromhex(str(error.data)[2:])
        if data[:4] != Web3.keccak(text=TOO_LITTLE)[:4]:
            raise
        return [TOO_LITTLE, *CODEC.decode(["address", "uint256", "uint256"], data[4:])]
    except TransactionNotFound as error:
        return type(error).__name__
    except Web3RPCError as error:
        return error.rpc_response and error.rpc_response["error"]["message"]


if __name__ == "__main__":
    Story(**json.loads(sys.stdin.readline())).tell()
