"""Laws of calls in words on a chain: a token is deployed, called, and shown with its effects."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests import evm_token
from tests.anvil import KEYS, Anvil, address, anvil
from tests.server.test_accounts import LANE, TO, TOML

from laneway.core.errors import BadRequest, IntentConflict
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.node.methods import REVERTING_CODE
from laneway.evm.abi.addresses import checksummed
from laneway.wire.evm import EvmLogShown, EvmPayload
from laneway.wire.values import Tx
from laneway.wiring.config import load
from laneway.wiring.embedded import Laneway
from laneway.wiring.opening import open_laneway

pytestmark = pytest.mark.slow

OWNER = checksummed(address())
SUPPLY = 1_000 * 10**18


@asynccontextmanager
async def opened(url: str, folder: Path) -> AsyncIterator[Laneway]:
    key, file = folder / "hot.key", folder / "laneway.toml"
    key.write_text(KEYS[0])
    key.chmod(0o600)
    file.write_text(TOML.format(url=url, key=key, chain=""))
    flags = {"store.path": str(folder / "a.db"), "host.round_ms": "5"}
    async with open_laneway(load(str(file), {}, flags)) as lw:
        yield lw


class Story:
    """The library on a node that mines when it is told to."""

    def __init__(self, lw: Laneway, mine: Callable[[], object]) -> None:
        self.lw = lw
        self._mine = mine

    async def sent(self, **options: Any) -> Tx:
        """A request as it is shown once it is final."""
        handle = await self.lw.send(LANE, **options)
        for _ in range(600):
            self._mine()
            await asyncio.sleep(0.05)
            tx = await self.lw.show(handle.id)
            if tx.final:
                return tx
        raise AssertionError(tx)

    async def deployed(self, **options: Any) -> str:
        tx = await self.sent(**options)
        assert tx.status == "confirmed", tx
        assert tx.evm is not None
        assert tx.evm.contract is not None
        return tx.evm.contract


def told(folder: Path, tell: Callable[[Story, Anvil], Awaitable[None]]) -> None:
    async def main() -> None:
        with anvil() as node:
            async with opened(node.url, folder) as lw:
                await tell(Story(lw, node.mine), node)

    asyncio.run(main())


def artifact(folder: Path) -> Path:
    """As compilers write it."""
    file = folder / "Token.json"
    entries = [line for line in evm_token.ABI if not line.startswith("constructor")]
    inputs = [{"name": "name", "type": "string"}, {"name": "supply", "type": "uint256"}]
    entries.append({"type": "constructor", "inputs": inputs})  # type: ignore[arg-type]
    file.write_text(json.dumps({"abi": entries, "bytecode": {"object": evm_token.CODE}}))
    return file


def test_the_token_is_what_its_source_says() -> None:
    assert f"0x{evm_token.assembled().hex()}" == evm_token.CODE


def balance(node: Anvil, token: str, owner: str) -> int:
    call = {"to": token, "data": "0x70a08231" + owner[2:].rjust(64, "0")}
    return int(node.say("eth_call", call, "latest"), 16)


def test_a_token_is_deployed_and_called_in_words(tmp_path: Path) -> None:
    async def tell(story: Story, node: Anvil) -> None:
        made = await story.sent(deploy=artifact(tmp_path), args=["Coin", "1000 ether"])
        assert made.evm is not None
        token = made.evm.contract
        assert token is not None
        assert node.say("eth_getCode", token, "latest") != "0x"
        assert balance(node, token, OWNER) == SUPPLY
        assert made.evm.call is not None
        assert made.evm.call.signature == "constructor(string,uint256)"
        assert [one.value for one in made.evm.call.args] == ["Coin", str(SUPPLY)]
        paid = await story.sent(
            to=token, call="transfer", args=[TO, "1.5 ether"], abi=tmp_path / "Token.json"
        )
        assert (paid.status, balance(node, token, TO)) == ("confirmed", 15 * 10**17)
        assert paid.evm is not None
        assert paid.evm.call is not None
        assert [(one.name, one.value) for one in paid.evm.call.args] == [
            ("to", TO),
            ("amount", str(15 * 10**17)),
        ]
        assert paid.evm.logs is not None
        (log,) = paid.evm.logs
        assert (log.address, shown(log)) == (
            token,
            {"from": OWNER, "to": TO, "value": str(15 * 10**17)},
        )
        assert (paid.evm.revert, paid.evm.unexplained, paid.evm.contract) == (None, "", None)

    told(tmp_path, tell)


def shown(log: EvmLogShown) -> dict[str, Any]:
    assert log.event is not None
    return {one.name: one.value for one in log.event.args}


def test_a_call_that_reverts_says_why(tmp_path: Path) -> None:
    """With gas of its own it is mined; without, its estimate fails and nothing is sent."""

    async def tell(story: Story, node: Anvil) -> None:
        token = await story.deployed(
            deploy=evm_token.CODE, args=["Coin", 7], abi=evm_token.ABI, gas=300_000
        )
        words = f"ERC20InsufficientBalance(sender={OWNER}, balance=7, needed=8)"
        call: dict[str, Any] = {"to": token, "abi": evm_token.ABI}
        poor = {**call, "call": "transfer", "args": [TO, 8]}
        refused = await story.sent(**poor)
        assert (refused.status, refused.hash) == ("refused", None)
        assert words in refused.reason
        for options, reason in (
            (poor, words),
            ({**call, "call": "boom"}, "Panic(0x11): arithmetic overflow or underflow"),
            ({**call, "call": "transfer", "args": ["0x" + "00" * 20, 1]}, "to nobody"),
            ({**call, "call": "spin()"}, "out of gas"),
            ({"to": token, "call": "boom()"}, "Panic(0x11): arithmetic overflow or underflow"),
            ({"to": token, "data": "0xa169ce09"}, "Panic(0x11): arithmetic overflow or underflow"),
        ):
            mined = await story.sent(**options, gas=100_000)
            assert mined.status == "reverted"
            assert mined.evm is not None
            assert mined.evm.revert is not None, mined.evm.unexplained
            assert reason in mined.evm.revert.reason.lower() or mined.evm.revert.reason == reason
            assert mined.evm.revert.source.startswith("a trace by ")
            assert mined.evm.logs is None
        assert balance(node, token, OWNER) == 7

    told(tmp_path, tell)


def test_another_content_in_words_is_shown_in_words(tmp_path: Path) -> None:
    async def tell(story: Story, node: Anvil) -> None:
        token = await story.deployed(
            deploy=evm_token.CODE, args=["Coin", 7], abi=evm_token.ABI, gas=300_000
        )
        lw = story.lw
        first = await lw.send(
            LANE, to=token, call="transfer", args=[TO, 1], abi=evm_token.ABI, gas=100_000
        )
        for _ in range(600):
            if (await lw.show(first.id)).status == "submitted":
                break
            await asyncio.sleep(0.02)
        abi: list[Any] = list(evm_token.ABI)
        other = EvmPayload(to=token, call="transfer", args=[TO, "2"], abi=abi, gas="100000")
        await lw.replace(first.id, other)
        for _ in range(600):
            tx = await lw.show(first.id)
            if tx.evm is not None and len(tx.evm.attempts) > 1:
                break
            await asyncio.sleep(0.02)
        assert tx.evm is not None
        assert tx.evm.call is not None
        assert tx.evm.call.args[1].value == "2"
        for _ in range(600):
            node.mine()
            await asyncio.sleep(0.05)
            tx = await lw.show(first.id)
            if tx.final:
                break
        assert tx.evm is not None
        assert tx.evm.logs is not None
        assert shown(tx.evm.logs[0])["value"] == "2"

    told(tmp_path, tell)


def test_a_key_is_of_the_call_and_not_of_what_is_said_about_it(tmp_path: Path) -> None:
    async def tell(story: Story, node: Anvil) -> None:
        lw = story.lw
        first = await lw.send(LANE, to=TO, call="pay(uint256)", args=[5], gas=50_000, key="a")
        data = "0xc290d691" + "5".rjust(64, "0")
        ways: tuple[dict[str, Any], ...] = (
            {"call": "function pay(uint256 n)", "args": ["5"], "abi": ["pay(uint256 n)"]},
            {"data": data},
            {"data": bytes.fromhex(data[2:]), "abi": ["event E()"]},
        )
        for words in ways:
            again = await lw.send(LANE, to=TO, gas=50_000, key="a", **words)
            assert (again.id, again.replayed) == (first.id, True)
        with pytest.raises(IntentConflict):
            await lw.send(LANE, to=TO, call="pay(uint256)", args=[6], gas=50_000, key="a")

    told(tmp_path, tell)


def test_what_is_wrong_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    async def tell(story: Story, node: Anvil) -> None:
        lw = story.lw
        wrong: tuple[tuple[dict[str, Any], str], ...] = (
            ({"to": TO, "call": "pay(uint256)", "args": []}, r"request\.args: .* 1 argument"),
            ({"to": TO, "call": "pay(uint8)", "args": [256]}, r"request\.args\[0\]: '256' is out"),
            ({"to": TO, "call": "pay", "abi": ["pay(uint8)", "pay(bool)"]}, "ambiguous"),
            ({"to": TO, "call": "pay", "abi": tmp_path / "absent.json"}, "abi: the file .*absent"),
            ({"to": TO, "call": "pay()", "data": "0x00"}, r"request\.data: either"),
            ({"call": "pay()"}, r"request\.to: a call is sent to a contract"),
            ({"to": TO, "deploy": "0x00"}, r"request\.to: a deployment has none"),
            ({"deploy": "0x" + "00" * 49_153}, r"49153 bytes of code"),
        )
        for request, problem in wrong:
            with pytest.raises(BadRequest, match=problem):
                await lw.send(LANE, **request)
        assert await lw.lanes() == []

    told(tmp_path, tell)


@pytest.mark.parametrize(
    ("executes", "source"),
    [(True, "a trace by "), (False, "a call on the state before block ")],
)
def test_the_devnet_shows_words_too(tmp_path: Path, executes: bool, source: str) -> None:
    """One that moves value alone has neither traces nor logs: a failed call is run again on the
    states around its block."""

    async def main() -> None:
        made = EvmDevnet(block_ms=None, executes=executes)
        async with made as devnet, opened(devnet.url, tmp_path) as lw:
            devnet.say("anvil_setCode", "0x" + "77" * 20, f"0x{REVERTING_CODE.hex()}")
            story = Story(lw, devnet.mine)
            options: dict[str, Any] = {"args": [TO, 5], "abi": evm_token.ABI, "gas": 60_000}
            paid = await story.sent(to=TO, call="transfer", **options)
            assert paid.evm is not None
            assert paid.evm.call is not None
            assert paid.evm.call.signature == "transfer(address,uint256)"
            assert (paid.status, paid.evm.logs) == ("confirmed", [])
            failed = await story.sent(to="0x" + "77" * 20, call="transfer", **options)
            assert failed.evm is not None
            assert failed.evm.revert is not None, failed.evm.unexplained
            assert failed.evm.revert.reason == "execution reverted"
            assert failed.evm.revert.source.startswith(source)

    asyncio.run(main())
