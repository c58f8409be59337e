"""A node that is dead, hangs or serves another chain is named in everything that is shown, for
every kind of chain; one of three is named too, and the lane goes on."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace
from tests.cli.stage import Terminal
from tests.cosmos_stage import TO as COSMOS_TO
from tests.relay import Relay
from tests.server.stage import Client

from laneway.cli.app import run
from laneway.core.errors import LanewayError
from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.devnets.cosmos.model.app import CosmosRules
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.jam.spec import TINY
from laneway.kinds.rollup import lanes as rollup
from laneway.wiring.config import Configuration, load
from laneway.wiring.server import Up, serve

pytestmark = pytest.mark.slow

EVM_TO = "0x" + "11" * 20
WAIT_S = 60.0
"""A node may be silent for ten seconds before that is one; the rest is a busy machine."""

DEAD, HANGS, OTHER = "cannot be reached: connection refused", "no answer within", ""
"""What is said of each; of another chain, what the kind says."""


class Kind(NamedTuple):
    """How a kind of chain is started, configured and given work."""

    lane: str
    check: str
    """The name of its check in readiness."""
    other: str
    """What is said of a node of another chain."""
    chains: Callable[[], Any]
    """The urls of a devnet, and of one of another chain."""
    toml: str
    key: str
    send: tuple[str, ...]


@asynccontextmanager
async def contracts() -> AsyncIterator[tuple[str, str]]:
    async with AsyncExitStack() as stack:
        made = [ContractSocket(ContractChain(round_ms=2), password="pw") for _ in range(2)]
        yield tuple([(await stack.enter_async_context(one)).url for one in made])  # type: ignore[misc]


@asynccontextmanager
async def evms() -> AsyncIterator[tuple[str, str]]:
    async with EvmDevnet() as ours, EvmDevnet(chain_id=5) as other:
        yield ours.url, other.url


@asynccontextmanager
async def cosmoses() -> AsyncIterator[tuple[str, str]]:
    rules = CosmosRules(chain_id="other-1")
    async with CosmosDevnet(block_ms=50) as ours, CosmosDevnet(rules=rules) as other:
        yield ours.url, other.url


@asynccontextmanager
async def jams() -> AsyncIterator[tuple[str, str]]:
    spec = replace(TINY, lookup_anchor_slots_max=TINY.lookup_anchor_slots_max + 1)
    async with JamDevnet(slot_ms=150) as ours, JamDevnet(slot_ms=150, spec=spec) as other:
        yield ours.url, other.url


KINDS = {
    "contract": Kind(
        lane="contract:Qm1",
        check="chain",
        other="laneway has seen block 1: it lags, or serves another chain",
        chains=contracts,
        toml="""
[contract]
search_ms = 100
retry_ms_min = 20
retry_ms_max = 100
[host]
kind = "rest"
url = "{url}"
read_ms = 1000
takes_parent = true
password_file = "{key}"
""",
        key="pw",
        send=("send", "contract:Qm1", "--data", "x", "--executor", "did:1"),
    ),
    "evm": Kind(
        lane="evm:dev:hot",
        check="evm dev",
        other="answers chain id 5, laneway.toml says 31337",
        chains=evms,
        toml="""
[eoa]
poll_ms = 50
make_retry_ms = 50
resend_ms = 200
finality_depth_blocks = 0
[[evm]]
name = "dev"
chain_id = 31337
nodes = ["{url}"]
[[evm.accounts]]
name = "hot"
signer = "file:{key}"
""",
        key="0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        send=("send", "evm:dev:hot", "--to", EVM_TO, "--value", "1", "--gas", "21000"),
    ),
    "cosmos": Kind(
        lane="cosmos:dev:main",
        check="cosmos dev",
        other="answers chain id other-1, laneway.toml says laneway-dev",
        chains=cosmoses,
        toml="""
[sequence]
poll_ms = 50
retry_ms = 50
make_retry_ms = 50
[[cosmos]]
name = "dev"
chain_id = "laneway-dev"
nodes = ["{url}"]
gas_price = "0.004"
[[cosmos.accounts]]
name = "main"
signer = "file:{key}"
""",
        key=CosmosDevnet().accounts[0].secret.hex(),
        send=("send", "cosmos:dev", "--to", COSMOS_TO, "--amount", "5utia", "--gas", "100000"),
    ),
    "jam": Kind(
        lane="rollup:dev",
        check=f"rollup:{ROLLUP_SERVICE_DEV}",
        other="answers for a chain whose ",
        chains=jams,
        toml=f"""
[[rollup]]
name = "dev"
service = {ROLLUP_SERVICE_DEV}
slot_ms = 150
nodes = ["{{url}}"]
""",
        key="",
        send=("rollup", "send", "--from", "dev:0", "--to", "dev:1", "--amount", "5"),
    ),
}

TROUBLES = {"dead": DEAD, "hangs": HANGS, "other": OTHER}


@pytest.fixture(autouse=True)
def plain_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines go to the test, whatever a command in this process set up before."""
    root = logging.getLogger("laneway")
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "propagate", True)


class Line(Relay):
    """A relay that can be dead as well."""

    async def __aenter__(self) -> "Line":
        await super().__aenter__()
        return self

    async def die(self) -> None:
        self._server.close()
        self._hang_up()
        await self._server.wait_closed()

    async def go(self, trouble: str, other: str) -> None:
        if trouble == "dead":
            await self.die()
        elif trouble == "hangs":
            self.silence()
        else:
            self.point(port_of(other))


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].strip("/"))


def at(url: str, port: int) -> str:
    """The address, by another port."""
    return url.replace(f":{port_of(url)}", f":{port}")


def written(folder: Path, kind: Kind, url: str) -> Configuration:
    key = folder / "key"
    key.write_text(kind.key)
    key.chmod(0o600)
    file = folder / "laneway.toml"
    store = f'[store]\npath = "{folder / "laneway.db"}"\n[server]\nport = 0\n'
    file.write_text(store + kind.toml.format(url=url, key=key))
    return load(str(file), {})


async def until(ask: Callable[[], Awaitable[Any]], is_so: Callable[[Any], bool]) -> Any:
    """What is answered, once it is so."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + WAIT_S
    while loop.time() < until_s:
        found = await ask()
        if is_so(found):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(found)


async def typed(terminal: Terminal, *words: str) -> str:
    """What a command says, however it ends."""
    _, out, err = await asyncio.to_thread(terminal.type, *words)
    return out + err


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("name", KINDS)
def test_a_node_in_trouble_is_named_with_its_address_wherever_one_looks(
    name: str,
    trouble: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = KINDS[name]
    words = TROUBLES[trouble] or kind.other

    async def story() -> None:
        async with kind.chains() as (ours, other), Line(port_of(ours)) as line:
            url = at(ours, line.port)
            configuration = written(tmp_path, kind, url)

            def is_named(text: str) -> bool:
                return f"node {url} " in text and words in text

            async with Up(configuration) as up, Client(up.server.urls[0]) as client:
                terminal = Terminal(client.url, capsys)
                done = await typed(terminal, *kind.send, "--wait", "--timeout", "60")
                assert "confirmed" in done
                ready = await client.get("/readyz")
                assert ready.status == 200, ready
                assert "good" in await typed(terminal, "lane", "health", kind.lane)
                await line.go(trouble, other)
                sent = json.loads(await typed(terminal, *kind.send, "--json"))
                tx = await until(lambda: typed(terminal, "tx", "show", sent["id"]), is_named)
                assert ("wrong_chain" if trouble == "other" else "node_unreachable") in tx
                assert any(is_named(record.getMessage()) for record in caplog.records)
                listed = await typed(terminal, "lanes")
                assert is_named(listed), listed
                assert " ready " not in listed
                health = await typed(terminal, "lane", "health", kind.lane)
                assert is_named(health), health
                assert "good" not in health
                ready = await client.get("/readyz")
                assert ready.status == 503
                (check,) = [one for one in ready.body["checks"] if one["name"] == kind.check]
                assert (check["ok"], is_named(check["what"])) == (False, True), check
                shown = await up.laneway.show(sent["id"])
                assert is_named(shown.reason), "the library says what REST says"
                beside = await examined(tmp_path, capsys, f"server.port={port_of(client.url)}")
                assert "BAD  server, " in beside, "the doctor asks the server that runs"
                assert f"node {url} " in beside.partition("BAD  server, ")[2], beside
            banner = await started(configuration)
            findings = await examined(tmp_path, capsys)
            if (name, trouble) == ("jam", "other"):
                assert "it is another chain" in banner, "by its blocks: a JAM node names no chain"
                assert f"node {url} answers for another chain" in findings, findings
            else:
                assert is_named(banner), banner
                assert is_named(findings), findings

    monkeypatch.setattr(rollup, "CHAIN_OPEN_S_MAX", 3.0)
    with caplog.at_level(logging.INFO, "laneway.nodes"):
        asyncio.run(story())


async def started(configuration: Configuration) -> str:
    """What `laneway up` says when it is started."""
    said: list[str] = []

    async def told() -> str:
        return "\n".join(said)

    serving = asyncio.create_task(serve(configuration, said.append))
    try:
        await until(told, lambda text: "caution" in text or serving.done())
    finally:
        serving.cancel()
        try:
            await serving
        except LanewayError as error:
            said.append(str(error))  # As the command says it when it ends.
        except asyncio.CancelledError:
            pass
    return await told()


async def examined(folder: Path, capsys: pytest.CaptureFixture[str], *settings: str) -> str:
    """What the doctor says."""
    capsys.readouterr()
    flags = [word for setting in settings for word in ("--set", setting)]
    await asyncio.to_thread(run, ["doctor", "--config", str(folder / "laneway.toml"), *flags])
    return capsys.readouterr().out


def test_one_dead_node_of_three_is_named_and_the_lane_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = KINDS["evm"]

    async def story() -> None:
        async with EvmDevnet(nodes=3) as devnet, Line(port_of(devnet.urls[2])) as line:
            dead = at(devnet.urls[2], line.port)
            await line.die()
            urls = '", "'.join((*devnet.urls[:2], dead))
            async with Up(written(tmp_path, kind, urls)) as up, Client(up.server.urls[0]) as client:
                terminal = Terminal(client.url, capsys)
                done = await typed(terminal, *kind.send, "--wait", "--timeout", "60")
                assert "confirmed" in done
                said = f"1 of 3 nodes fail, the others are used: node {dead} {DEAD}"
                assert said in await typed(terminal, "lane", "health", kind.lane)
                listed = await typed(terminal, "lanes")
                assert (said in listed, "backing off" in listed) == (True, False)
                ready = await client.get("/readyz")
                checks = {one["name"]: (one["ok"], one["what"]) for one in ready.body["checks"]}
                assert (ready.status, checks[kind.check]) == (200, (True, said))

    asyncio.run(story())


def test_a_node_that_answers_again_is_well_again_and_the_payment_goes_through(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = KINDS["evm"]

    async def story() -> None:
        async with kind.chains() as (ours, other), Line(port_of(ours)) as line:
            configuration = written(tmp_path, kind, at(ours, line.port))
            await line.go("other", other)
            async with Up(configuration) as up, Client(up.server.urls[0]) as client:
                terminal = Terminal(client.url, capsys)
                sent = json.loads(await typed(terminal, *kind.send, "--json"))
                shown = partial(typed, terminal, "tx", "show", sent["id"])
                await until(shown, lambda text: kind.other in text)
                line.point(port_of(ours))
                await until(shown, lambda text: "confirmed" in text)
                assert "good" in await typed(terminal, "lane", "health", kind.lane)

    asyncio.run(story())
