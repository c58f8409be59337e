"""Where the EVM devnet differs from anvil, as docs/evm-devnet.md lists it: every row of its table
is shown here on both, and what is shown here has a row.

A difference that vanished fails, and so does one that has become another; what is in no row is
held to be alike by the suites beside this one.
"""

import re
from collections.abc import Callable, Coroutine, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from msgspec import Struct, json
from tests.anvil import GWEI, KEYS, Said, address
from tests.contracts.evm_answers import SEND, answer, raw, told
from tests.evm_blobs import blob_transaction, sidecar
from tests.evm_blobs import sent as in_bytes
from tests.evm_worlds import WORLDS, World

from laneway.devnets.evm.node.control import CONTROLS
from laneway.devnets.evm.node.methods import METHODS
from laneway.wire.rpc_server.methods import RpcRefused

PAGE = Path(__file__).parents[2] / "docs" / "evm-devnet.md"
HEADING = "## Where it differs"

SENDER = "0x" + address().hex()
BARE = "0x" + "11" * 20
STORES = "0x" + "33" * 20
CODE = "6001600055602a602b60206000a1600054600101600155602060005260206000f3"
"""Stores twice, logs once with the topic 0x2b, and returns 0x20."""
TO_STORES = {"from": SENDER, "to": STORES}
ZERO, ONE = ("0x" + f"{number:064x}" for number in (0, 1))
LATEST = "latest"
UNKNOWN_METHOD = -32601

Show = Callable[[World], Coroutine[Any, Any, Any]]


class Difference(Struct, frozen=True):
    show: Show
    anvil: Any
    here: Any


DIFFERENCES: dict[str, Difference] = {}


def row(what: str, *, anvil: Any, here: Any) -> Callable[[Show], Show]:
    """What both answer, where the table has a row of this name."""

    def keep(show: Show) -> Show:
        assert what not in DIFFERENCES
        DIFFERENCES[what] = Difference(show, anvil, here)
        return show

    return keep


def rows() -> list[str]:
    """The first column of the page's table."""
    section = PAGE.read_text().partition(HEADING)[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [line.split("|")[1].strip() for line in lines[2:]]


def named(what: str) -> tuple[str, ...]:
    """The methods that a row names."""
    (found,) = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {what} |")]
    return tuple(re.findall(r"`([a-z0-9]+_\w+)`", found.split("|")[3]))


def code(world: World, text: str = CODE, where: str = STORES) -> None:
    world.set_code(bytes.fromhex(where[2:]), bytes.fromhex(text))


def sent(world: World, nonce: int, **fields: Any) -> str:
    found: str = world.say(SEND, raw(nonce, **fields))
    return found


def with_blobs(nonce: int, count: int) -> tuple[str, str]:
    return in_bytes(blob_transaction(nonce, sidecar(1, count=count)))


def is_answered(world: World, method: str, *params: object) -> bool:
    try:
        world.say(method, *params)
    except (Said, RpcRefused):
        return False
    return True


async def posted(world: World, body: bytes) -> Any:
    headers = {"Content-Type": "application/json"}
    async with (
        ClientSession() as session,
        session.post(world.url, data=BytesIO(body), headers=headers) as response,
    ):
        return json.decode(await response.read()) if response.status == 200 else response.status


# The chain.


@row("order in a block", anvil=[0, 1], here=[1, 0])
async def _(world: World) -> Any:
    world.set_base_fee(2 * GWEI)
    hashes = [
        sent(world, 0, maxFeePerGas=100 * GWEI, maxPriorityFeePerGas=1 * GWEI),
        sent(world, 0, key=KEYS[1], maxFeePerGas=50 * GWEI, maxPriorityFeePerGas=9 * GWEI),
    ]
    world.mine()
    block = world.say("eth_getBlockByNumber", LATEST, False)
    return [hashes.index(one) for one in block["transactions"]]


@row("base fee of block 1", anvil=GWEI, here=GWEI * 7 // 8)
async def _(world: World) -> Any:
    world.mine()
    return int(world.say("eth_getBlockByNumber", "0x1", False)["baseFeePerGas"], 16)


@row("base fee of a block that replaces one", anvil=False, here=True)
async def _(world: World) -> Any:
    """Whether it follows from its parent."""
    world.set_base_fee(2 * GWEI)
    world.mine()
    world.mine()
    old = world.say("eth_getBlockByNumber", LATEST, False)["baseFeePerGas"]
    world.reorg(1)
    return bool(world.say("eth_getBlockByNumber", LATEST, False)["baseFeePerGas"] == old)


@row("transactions of the `pending` block", anvil="0x1", here=None)
async def _(world: World) -> Any:
    sent(world, 0)
    (found,) = world.say("eth_getBlockByNumber", "pending", True)["transactions"]
    return found["blockNumber"]


@row("`safe` and `finalized`", anvil=[38, 6], here=[0, 0])
async def _(world: World) -> Any:
    world.mine(70)
    tags = ("safe", "finalized")
    return [int(world.say("eth_getBlockByNumber", tag, False)["number"], 16) for tag in tags]


@row("excess of blob gas", anvil=0, here=3 * 131_072)
async def _(world: World) -> Any:
    # Nine are three more than a block of Prague should have.
    for nonce, count in enumerate((6, 3)):
        world.say(SEND, with_blobs(nonce, count)[0])
    world.mine(2)
    return int(world.say("eth_getBlockByNumber", LATEST, False)["excessBlobGas"], 16)


@row("a blob transaction in words", anvil=True, here=False)
async def _(world: World) -> Any:
    raw_blobs, digest = with_blobs(0, 1)
    world.say(SEND, raw_blobs)
    return "blobs" in world.say("eth_getTransactionByHash", digest)


@row("a snapshot after one that was reverted to", anvil=(-32001, "Resource not found"), here=False)
async def _(world: World) -> Any:
    first = world.say("evm_snapshot")
    world.mine()
    later = world.say("evm_snapshot")
    world.say("evm_revert", first)
    return answer(world, "evm_revert", later)


@row("`anvil_reset`", anvil=False, here=True)
async def _(world: World) -> Any:
    """Whether the factory of contracts is there afterwards."""
    factory = "0x4e59b44847b379578588920ca78fbf26c0b4956c"
    assert world.say("eth_getCode", factory, LATEST) != "0x"
    world.say("anvil_reset")
    return world.say("eth_getCode", factory, LATEST) != "0x"


# Calls.


@row("a gas estimate", anvil=0xCF09, here=0xCF08)
async def _(world: World) -> Any:
    return int(world.say("eth_estimateGas", {"from": SENDER}), 16)


@row("gas of a call that names none", anvil=30_000_000, here=50_000_000)
async def _(world: World) -> Any:
    code(world, "5a60005260206000f3")
    # GAS comes after what every transaction pays, and costs 2 itself.
    return int(world.say("eth_call", TO_STORES, LATEST), 16) + 21_000 + 2


@row(
    "messages of a call that halted",
    anvil=(-32603, "EVM error InvalidFEOpcode"),
    here=(-32003, "EVM error invalid opcode"),
)
async def _(world: World) -> Any:
    code(world, "fe")
    return answer(world, "eth_call", TO_STORES, LATEST)


@row("a call that offers less than the base fee", anvil=True, here=False)
async def _(world: World) -> Any:
    code(world)
    return is_answered(world, "eth_call", {**TO_STORES, "gasPrice": "0x1"}, LATEST)


@row("overrides that are not known", anvil=(True, True), here=(False, False))
async def _(world: World) -> Any:
    moved = {STORES: {"code": "0x00", "movePrecompileToAddress": BARE}}
    return (
        is_answered(world, "eth_call", TO_STORES, LATEST, moved),
        is_answered(world, "eth_call", TO_STORES, LATEST, {}, {"nonsense": "0x1"}),
    )


# What is read.


@row("proofs in an empty storage", anvil=["0x80"], here=[])
async def _(world: World) -> Any:
    (proof,) = world.say("eth_getProof", BARE, [ZERO], LATEST)["storageProof"]
    return proof["proof"]


@row("the block of `eth_getProof` and `eth_getStorageValues`", anvil=(False,) * 2, here=(True,) * 2)
async def _(world: World) -> Any:
    return (
        is_answered(world, "eth_getProof", BARE, []),
        is_answered(world, "eth_getStorageValues", {BARE: [ZERO]}),
    )


@row("a key of storage with more than 32 bytes", anvil=True, here=False)
async def _(world: World) -> Any:
    return is_answered(world, "eth_getStorageAt", BARE, "0x" + "0" * 65, LATEST)


@row("criteria for more topics than a log has", anvil=1, here=0)
async def _(world: World) -> Any:
    code(world)
    sent(world, 0, to=STORES, gas=200_000)
    world.mine()
    return len(world.say("eth_getLogs", {"topics": [None, None]}))


@row("blocks between two polls that were replaced", anvil=2, here=1)
async def _(world: World) -> Any:
    name = world.say("eth_newBlockFilter")
    world.mine()
    world.reorg(1)
    return len(world.say("eth_getFilterChanges", name))


@row("`eth_feeHistory` beyond the head", anvil=True, here=False)
async def _(world: World) -> Any:
    return is_answered(world, "eth_feeHistory", "0x1", "0x99", [])


@row("percentiles", anvil=(True, True), here=(False, False))
async def _(world: World) -> Any:
    return (
        is_answered(world, "eth_feeHistory", "0x1", LATEST, [101]),
        is_answered(world, "eth_feeHistory", "0x1", LATEST, [50] * 101),
    )


@row("messages about parameters", anvil=True, here=False)
async def _(world: World) -> Any:
    """Whether they are those of its decoder; the codes are the same."""
    refusals = [
        answer(world, "eth_getProof", BARE, ["zz"], LATEST),
        answer(world, "eth_call", TO_STORES, LATEST, {BARE: {"code": 5}}),
        answer(world, "eth_getFilterChanges"),
    ]
    assert {code for code, _ in refusals} == {-32602}
    return refusals[0][1] == "invalid string length"


@row("`web3_clientVersion`", anvil="anvil/v1.7.1", here="anvil/laneway-devnet")
async def _(world: World) -> Any:
    return world.say("web3_clientVersion")


# Traces.


async def trace(world: World, config: Mapping[str, object], **fields: Any) -> Any:
    """Of the second transaction of a block."""
    code(world)
    world.set_base_fee(2 * GWEI)
    sent(world, 0)
    digest = sent(world, 1, **{"to": STORES, "gas": 200_000, **fields})
    world.mine()
    return world.say("debug_traceTransaction", digest, config)


@row("a trace of an unknown transaction", anvil=0, here=(-32000, "transaction not found"))
async def _(world: World) -> Any:
    found = answer(world, "debug_traceTransaction", ZERO)
    return found["gas"] if isinstance(found, dict) else found


@row("gas in traces", anvil=(179_000, 87_354), here=(200_000, 66_354))
async def _(world: World) -> Any:
    found = await trace(world, {"tracer": "callTracer"})
    return int(found["gas"], 16), int(found["gasUsed"], 16)


@row("`index` of a log in `callTracer`", anvil=True, here=False)
async def _(world: World) -> Any:
    found = await trace(world, {"tracer": "callTracer", "tracerConfig": {"withLog": True}})
    return "index" in found["logs"][0]


@row("a created contract in `prestateTracer`", anvil=3, here=2)
async def _(world: World) -> Any:
    """Accounts before it, of which the contract was none."""
    made = {"to": "", "data": "0x60006000f3"}
    return len(await trace(world, {"tracer": "prestateTracer"}, **made))


@row("`limit` of steps", anvil=20, here=3)
async def _(world: World) -> Any:
    return len((await trace(world, {"limit": 3}))["structLogs"])


@row("tracers", anvil=(True,) * 2, here=(False,) * 2)
async def _(world: World) -> Any:
    names = ("noopTracer", "{fault() {}, result() {return 1}}")
    call = {"from": SENDER, "to": BARE}
    return tuple(
        is_answered(world, "debug_traceCall", call, LATEST, {"tracer": name}) for name in names
    )


# Methods and requests.


def served(world: World, name: str) -> bool:
    try:
        world.say(name)
    except (Said, RpcRefused) as no:
        return no.code != UNKNOWN_METHOD
    return True


@row("methods that are not here", anvil=named("methods that are not here"), here=())
async def _(world: World) -> Any:
    return tuple(name for name in named("methods that are not here") if served(world, name))


@row("methods that are here alone", anvil=(), here=named("methods that are here alone"))
async def _(world: World) -> Any:
    """Of all that the devnet has, whatever anvil has not: nothing else may be missing there."""
    every = sorted({**METHODS, **CONTROLS})
    lacking = tuple(name for name in every if not served(world, name))
    alone = named("methods that are here alone")
    return tuple(name for name in alone if name not in lacking) if set(lacking) <= set(alone) else 5


@row("largest request", anvil=False, here=True)
async def _(world: World) -> Any:
    """Whether 3 MiB are taken."""
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "web3_sha3",
        "params": ["0x" + "00" * 1_572_000],
    }
    found = await posted(world, json.encode(request))
    return isinstance(found, dict) and "result" in found


@row("calls of one batch", anvil=1_001, here=-32600)
async def _(world: World) -> Any:
    request = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
    found = await posted(world, json.encode([request] * 1_001))
    return len(found) if isinstance(found, list) else found["error"]["code"]


# After the last row.


def test_every_row_of_the_page_is_shown_and_nothing_else() -> None:
    assert rows() == list(DIFFERENCES)


@pytest.mark.slow
@pytest.mark.parametrize("what", list(DIFFERENCES))
def test_the_difference_is_there(what: str) -> None:
    one = DIFFERENCES[what]
    assert one.anvil != one.here
    assert {name: told(name, one.show) for name in WORLDS} == {
        "anvil": one.anvil,
        "model": one.here,
    }
