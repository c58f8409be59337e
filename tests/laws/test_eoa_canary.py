"""A key that pays is seen nowhere: everything an engine says or writes is searched for it.

The engine runs on a real anvil with the canary's key, well and badly; then its files, a Redis byte
by byte, all log lines at every level, its records, its answers and its errors are searched.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import json, to_builtins
from tests.anvil import Anvil, address, anvil
from tests.canary import SECRET, Witness
from tests.laws.eoa_engine import Run, configured, once, opened, paid, run
from tests.redis_servers import DURABLE, Server, server

from laneway.core.errors import LanewayError
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule
from laneway.wiring.config import load
from laneway.wiring.opening import open_laneway

pytestmark = pytest.mark.slow

KEY = "0x" + SECRET.hex()
SEND = "eth_sendRawTransaction"


@pytest.fixture
def node() -> Iterator[Anvil]:
    with anvil("--block-time", "0.2") as made:
        made.say("anvil_setBalance", "0x" + address(KEY).hex(), hex(10**20))
        yield made


async def well_and_badly(engine: Run, proxy: ChaosProxy, witness: Witness) -> None:
    """Payments, one that reverts, one too dear, a signer's and a node's trouble, bad requests."""
    await engine.confirmed(*await engine.pay_all([1, 2]))
    for fault in (ProxyFault.LOSE_ANSWER, ProxyFault.STATUS):
        proxy.rule(Rule(fault, method=SEND, status=502, count=1))
        await engine.confirmed(await engine.pay(3 if fault is ProxyFault.LOSE_ANSWER else 4))
    proxy.rule(Rule(ProxyFault.ERROR, method=SEND, message="exceeds block gas limit", count=1))
    (end,) = await engine.final(await engine.pay(5))
    witness.hears("an end", end)
    await engine.tell("pause")
    for lane, words in (("evm:dev:nobody", {}), ("evm:dev:hot", {"to": "0xno"})):
        with pytest.raises((LanewayError, ValueError)) as refusal:
            await engine.pay(6, lane=lane, **words)
        witness.hears("a refusal", refusal.value)


def hear_all(engine: Run, witness: Witness) -> None:
    laneway = engine.laneway
    witness.hears("records", json.encode(to_builtins(engine.heard.records)))
    witness.hears("records in words", engine.heard.records)
    assert laneway.evm.lanes is not None
    for account in laneway.evm.lanes.accounts.values():
        for part in (
            account,
            account.signer,
            account.sign_now,
            vars(account.signer),
            vars(account),
        ):
            witness.hears("an account", part)
    for whole in (laneway, laneway.evm.lanes, vars(laneway.evm.lanes), laneway.evm.lanes.performer):
        witness.hears("the engine", whole)


def configuration_in_words(folder: Path, witness: Witness) -> None:
    configuration = load(str(folder / "laneway.toml"))
    for setting in configuration.settings():
        witness.hears("a setting", setting)
    witness.hears("the chains", configuration.tables()["evm"])


def test_a_key_that_pays_is_in_no_file_log_record_answer_or_error(
    node: Anvil, tmp_path: Path
) -> None:
    witness = Witness(SECRET)

    async def story() -> None:
        async with (
            ChaosProxy(node.url) as proxy,
            opened(tmp_path, [proxy.url], keys=[KEY]) as engine,
        ):
            await well_and_badly(engine, proxy, witness)
            hear_all(engine, witness)
            witness.reads(tmp_path, besides=[tmp_path / "hot.key"])

    with witness.logs():
        run(story())
    assert paid(node, KEY)[:4] == once([1, 2, 3, 4])
    configuration_in_words(tmp_path, witness)
    witness.reads(tmp_path, besides=[tmp_path / "hot.key"])
    witness.is_content()


def test_a_key_that_pays_is_in_no_byte_of_redis(node: Anvil, tmp_path: Path) -> None:
    witness = Witness(SECRET)

    async def story(redis: Server) -> None:
        async with (
            ChaosProxy(node.url) as proxy,
            opened(tmp_path, [proxy.url], keys=[KEY], store=redis.url) as engine,
        ):
            await well_and_badly(engine, proxy, witness)
            hear_all(engine, witness)

    with server(*DURABLE, "--rdbcompression", "no") as redis:
        with witness.logs():
            run(story(redis))
        keys = redis.client.keys("*")
        assert keys
        for key in keys:
            witness.hears(f"the name {key!r}", key)
            witness.hears(f"{key!r}", redis.client.dump(key))
        redis.client.save()
        witness.reads(redis.folder)
    assert paid(node, KEY)[:4] == once([1, 2, 3, 4])
    witness.is_content()


def test_a_key_in_the_wrong_place_is_refused_without_being_said(tmp_path: Path) -> None:
    witness = Witness(SECRET)

    async def story() -> None:
        path = configured(tmp_path, ["http://127.0.0.1:9"], keys=[KEY])
        text = path.read_text()
        (tmp_path / "hot.key").unlink()
        signer = f"file:{tmp_path / 'hot.key'}"
        for wrong in (KEY, f"file:{KEY}", f"env:{KEY}", signer):
            path.write_text(text.replace(signer, wrong))
            with pytest.raises(LanewayError) as refusal:
                async with open_laneway(load(str(path))):
                    pass
            witness.hears(wrong[:5], refusal.value)

    with witness.logs():
        run(story())
    witness.is_content()
