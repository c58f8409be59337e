"""Laws of `laneway up`: what it prints, how it ends, and that nothing is lost either way."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.free_ports import free_port
from tests.redis_servers import server
from tests.server.stage import running

from laneway.core.urls import shown_url
from laneway.engine.system import SystemClock
from laneway.kinds.served import Home
from laneway.ports import ContractCall, Execution
from laneway.wiring.config import load
from laneway.wiring.opening import open_kinds
from laneway.wiring.server import allow_files

BODY = {"lane": "contract:Qm1", "payload": {"data": "x"}}


class Served:
    """`laneway up` as a person starts it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "laneway", "up", "--set", "server.port=0", *flags],
            cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if "LANEWAY" not in name},
        )  # fmt: skip
        self.said: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if line.startswith("access"):
                break
        found = re.search(r"http://127\.0\.0\.1:(\d+)/v1", "\n".join(self.said))
        self.port = 0 if found is None else int(found[1])

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=90)
        try:
            headers = {"Content-Type": "application/json"}
            raw = None if body is None else json.dumps(body)
            connection.request(method, path, raw, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=90)
        return self.process.returncode, out, err


@contextmanager
def served(folder: Path, *flags: str) -> Iterator[Served]:
    up = Served(folder, *flags)
    try:
        yield up
    finally:
        if up.process.poll() is None:
            up.process.kill()
        up.process.wait(30)
        for stream in (up.process.stdout, up.process.stderr):
            assert stream is not None
            stream.close()


SLOW = ("--set", "host.round_ms=60000")


@pytest.mark.slow
def test_it_says_where_it_is_and_who_may_call(tmp_path: Path) -> None:
    with served(tmp_path, "--set", "server.seed_port=0") as up:
        said = "\n".join(up.said)
        for words in (
            f"http://127.0.0.1:{up.port}/v1/transactions",
            f"http://127.0.0.1:{up.port}/v1/events",
            "/api/execute-smart-contract",
            "laneway.db (SQLite 3.",
            "loopback only, no keys",
        ):
            assert words in said
        assert (tmp_path / "laneway.db").exists()
        assert up.ask("GET", "/readyz")[1]["ready"] is True


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_what_was_accepted_goes_on_at_the_next_start(
    number: signal.Signals, tmp_path: Path
) -> None:
    with served(tmp_path, *SLOW) as up:
        ids = [up.ask("POST", "/v1/transactions", BODY)[1]["id"] for _ in range(5)]
        begun = time.monotonic()
        up.process.send_signal(number)
        code, out, err = up.end()
        assert code == 0, err
        assert time.monotonic() - begun < 30
        assert "stopping" in out
        assert "goes on at the next start" in out
    with served(tmp_path, "--set", "host.round_ms=10", "--set", "contract.search_ms=50") as up:
        for intent in ids[1:]:
            path = f"/v1/transactions/{intent}"
            assert up.ask("GET", path)[0] == 200


ACCOUNTS = """
[[{kind}]]
name = "dev"
chain_id = {chain}
nodes = ["http://127.0.0.1:1"]
"""
ACCOUNT = '[[{kind}.accounts]]\nname = "{name}"\nsigner = "env:HOT_KEY"\n'


def spoken(folder: Path, toml: str, *, shared: bool, **environment: str) -> list[str]:
    """What the banner says of the kinds that a configuration has."""
    file = folder / "laneway.toml"
    file.write_text(toml)
    configuration = load(str(file), environment)
    kinds = {kind.name: kind for kind in open_kinds(configuration, SystemClock())}
    home = cast(Home, SimpleNamespace(shared=shared, kinds=kinds, store=None))
    for kind in kinds.values():
        kind.attach(home)
    named = ("evm", "cosmos", "contract")
    return [line for name in named for line in kinds[name].greeting("http://127.0.0.1")]


def test_the_banner_speaks_of_the_kinds_that_are_configured(tmp_path: Path) -> None:
    evm = ACCOUNTS.format(kind="evm", chain="31337") + ACCOUNT.format(kind="evm", name="hot")
    cosmos = ACCOUNTS.format(kind="cosmos", chain='"dev-1"')
    cosmos += ACCOUNT.format(kind="cosmos", name="main")
    alone = spoken(tmp_path, evm + cosmos, shared=False)
    assert alone == [
        "accounts    evm:dev:hot (chain 31337)",
        "accounts    cosmos:dev:main (chain dev-1)",
        "host        devnet",
    ]
    fleet = spoken(tmp_path, evm, shared=True)
    assert fleet[0] == "accounts    evm:dev:hot (chain 31337)"
    assert "none for contracts" in fleet[1]
    assert not any("ONE process" in line for line in fleet)


def test_a_fleet_that_executes_contracts_on_an_embedded_chain_is_warned(tmp_path: Path) -> None:
    evm = ACCOUNTS.format(kind="evm", chain="31337")
    (line,) = spoken(tmp_path, "", shared=True)
    assert "for ONE process only" in line
    none, asked = spoken(tmp_path, evm, shared=True, LANEWAY_HOST__KIND="devnet")
    assert (none, "for ONE process only" in asked) == (
        "accounts    none of evm:dev (chain 31337)",
        True,
    )
    rest = {"LANEWAY_HOST__KIND": "rest", "LANEWAY_HOST__URL": "http://me:secret@node:20000"}
    (line,) = spoken(tmp_path, "", shared=True, **rest)
    assert line == f"host        rest {shown_url(rest['LANEWAY_HOST__URL'])}"


def test_of_many_accounts_the_banner_names_the_first(tmp_path: Path) -> None:
    many = "".join(ACCOUNT.format(kind="evm", name=f"a{place}") for place in range(7))
    line, _ = spoken(tmp_path, ACCOUNTS.format(kind="evm", chain="1") + many, shared=False)
    assert line == "accounts    evm:dev:a0 evm:dev:a1 evm:dev:a2 evm:dev:a3 and 3 more (chain 1)"


@contextmanager
def waiting(folder: Path, store: str, *flags: str) -> Iterator["subprocess.Popen[str]"]:
    """`laneway up` on a store that is down, once it has said that it waits."""
    environment = {name: value for name, value in os.environ.items() if "LANEWAY" not in name}
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "laneway", "up", "--set", "server.port=0", "--db", store,
         *flags],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("waiting for the store: "), line
        yield process
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()
        process.stderr.close()


@pytest.mark.slow
def test_a_store_that_is_down_at_the_start_is_waited_for(tmp_path: Path) -> None:
    with server() as redis:
        redis.kill()
        with waiting(tmp_path, redis.url) as up:
            redis.start()
            assert up.stdout is not None
            assert any(line.startswith("access") for line in up.stdout), "it has started"
            up.send_signal(signal.SIGTERM)
            assert up.wait(30) == 0


@pytest.mark.slow
def test_a_start_that_waits_for_its_store_is_alive_and_not_ready(tmp_path: Path) -> None:
    port = free_port()
    with waiting(tmp_path, "redis://:canary@127.0.0.1:1", "--set", f"server.port={port}"):
        told = {}
        for path in ("/livez", "/readyz", "/v1/lanes"):
            connection = HTTPConnection("127.0.0.1", port, timeout=90)
            connection.request("GET", path)
            answer = connection.getresponse()
            told[path] = (answer.status, answer.read().decode())
            connection.close()
        assert told["/livez"][0] == 200
        status, body = told["/readyz"]
        assert (status, json.loads(body)["ready"]) == (503, False)
        assert "waiting for the store" in json.loads(body)["checks"][0]["what"]
        status, body = told["/v1/lanes"]
        assert (status, json.loads(body)["code"]) == (503, "store_busy")
        assert not any("canary" in body for _, body in told.values())


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["postgresql", "redis", "redis+cluster"])
def test_a_signal_ends_the_wait_for_a_store(scheme: str, tmp_path: Path) -> None:
    with waiting(tmp_path, f"{scheme}://127.0.0.1:{free_port()}/x") as up:
        up.send_signal(signal.SIGTERM)
        out, err = up.communicate(timeout=90)
        # Between two waits a signal finds the kernel's own answer, which is as quick.
        assert up.returncode in (0, -signal.SIGTERM), err
        assert up.returncode != 0 or "stopped before the store could be reached" in out


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["postgresql", "redis", "redis+cluster"])
def test_a_store_that_stays_down_ends_the_start_with_75(scheme: str, tmp_path: Path) -> None:
    store = f"{scheme}://127.0.0.1:{free_port()}/x"
    told = subprocess.run(
        [sys.executable, "-m", "laneway", "up", "--db", store, "--set", "store.start_ms_max=300"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert told.returncode == 75, told.stderr
    assert "it may be tried again" in told.stderr


def test_no_send_is_started_after_the_end_has_begun() -> None:
    async def main() -> None:
        async with running(host__round_ms="1") as (up, client):
            begun: list[bool] = []
            execute = up.laneway.host.execute

            async def counted(call: ContractCall, parent: int) -> Execution:
                begun.append(up.desk.draining)
                return await execute(call, parent)

            up.laneway.host.execute = counted  # type: ignore[method-assign]
            for number in range(100):
                await client.send(str(number), f"contract:Qm{number % 10}")
            await up.close()
            assert begun
            assert not any(begun)

    asyncio.run(main())


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with served(tmp_path, *SLOW) as up:
        up.ask("POST", "/v1/transactions", BODY)
        # The wait keeps the first signal's end from being over before the second comes.
        up.process.send_signal(signal.SIGTERM)
        up.process.send_signal(signal.SIGTERM)
        code, _, _ = up.end()
        assert code in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_no_answered_202_is_lost_when_it_is_killed_under_load(tmp_path: Path) -> None:
    answered: list[str] = []
    with served(tmp_path, *SLOW) as up:

        def send() -> None:
            while True:
                try:
                    status, body = up.ask("POST", "/v1/transactions", BODY)
                except (OSError, json.JSONDecodeError):
                    return
                if status != 202:
                    return
                answered.append(body["id"])

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.7)
        until_s = time.monotonic() + 60
        while len(answered) <= 20 and time.monotonic() < until_s:
            time.sleep(0.01)
        up.process.kill()
        for thread in threads:
            thread.join(30)
    assert len(answered) > 20
    with served(tmp_path, *SLOW) as up:
        for intent in answered:
            assert up.ask("GET", f"/v1/transactions/{intent}")[0] == 200
        status, lane = up.ask("GET", "/v1/lanes/contract:Qm1")
        assert (status, lane["queue"]["enqueued"] >= len(answered)) == (200, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.slow
def test_the_devnet_goes_on_where_its_chain_was_whatever_ended_the_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    quick = ("--set", "host.round_ms=5")
    for life in (1, 2, 3):
        with served(tmp_path, *quick) as up:
            path = "/v1/transactions?wait=confirmed&timeout=20"
            status, tx = up.ask("POST", path, BODY)
            assert (status, tx["status"], tx["block"]) == (200, "confirmed", life)
            up.process.send_signal(number)
            up.end()
    assert (tmp_path / "laneway.db-devnet").read_bytes().count(b"\n") == 3


def test_a_chain_that_ends_below_what_was_seen_is_named(tmp_path: Path) -> None:
    flags = {"store__path": str(tmp_path / "a.db"), "store__durability": "full"}

    async def main() -> None:
        async with running(**flags) as (_, client):
            await client.finish((await client.send("1"))["id"])
        (tmp_path / "a.db-devnet").unlink()
        async with running(**flags) as (_, client):
            checks = (await client.get("/readyz")).body["checks"]
            said = {check["name"]: check["what"] for check in checks}["chain"]
            assert "ends at block 0 and was seen at" in said
            assert "another chain" in said

    asyncio.run(main())


@pytest.mark.slow
def test_a_file_that_another_process_owns_is_refused_with_a_clear_word(tmp_path: Path) -> None:
    with served(tmp_path):
        second = Served(tmp_path)
        code, _, err = second.end()
        assert code != 0
        lines = [line for line in err.splitlines() if line.startswith("laneway: ")]
        assert len(lines) == 1
        assert "Traceback" not in err


@pytest.mark.slow
def test_ten_thousand_hostile_connections_lose_nothing_and_harm_no_other_caller(
    tmp_path: Path,
) -> None:
    writers: list[asyncio.StreamWriter] = []

    async def main(up: Served) -> None:
        allow_files(12_000)
        for _ in range(50):
            opening = (asyncio.open_connection("127.0.0.1", up.port) for _ in range(200))
            for _, writer in await asyncio.gather(*opening):
                writer.write(b"POST /v1/transactions HTTP/1.1\r\nHost: local")
                writers.append(writer)
        begun = time.monotonic()
        for _ in range(20):
            status, _ = await asyncio.to_thread(up.ask, "POST", "/v1/transactions", BODY)
            assert status == 202
        assert time.monotonic() - begun < 5

    async def end(up: Served) -> None:
        try:
            await main(up)
        finally:
            for writer in writers:
                writer.transport.abort()
            await asyncio.sleep(0)

    with served(tmp_path, *SLOW, "--set", "server.connections_max=11000") as up:
        asyncio.run(end(up))
        for _ in range(600):
            try:
                status, lane = up.ask("GET", "/v1/lanes/contract:Qm1")
            except OSError:
                status = 503
            if status == 200:
                break
            time.sleep(0.1)
        assert lane["queue"]["enqueued"] == 20


ROLLUP = ("--rollup", "ledger", "--slot-ms", "200")


def transfers(count: int) -> list[bytes]:
    from tests.rollup_stage import Purse

    from laneway.devnets.jam.model.chain import JamModel
    from laneway.devnets.jam.model.values import ModelSetup

    return Purse(JamModel(ModelSetup()).genesis).transfers(count)


@pytest.mark.slow
def test_a_rollup_of_ones_own_outlives_its_process(tmp_path: Path) -> None:
    """Killed in the middle, chain and lane and all; nothing is lost, and nothing is done twice."""
    raws = transfers(8)
    with served(tmp_path, *ROLLUP) as up:
        said = "\n".join(up.said)
        assert "rollup      rollup:1 (ledger) on dev" in said
        assert re.search(r"JAM node    ws://127\.0\.0\.1:\d+ \(tiny chain in this process\)", said)
        assert said.count("\n  dev:") == 10
        example = "laneway rollup send --from dev:0 --to dev:1 --amount 5 --wait"
        assert f"{example} --url http://127.0.0.1:{up.port}" in said
        ids = [sent(up, raw) for raw in raws[:4]]
        time.sleep(0.7)
        up.process.kill()
    with served(tmp_path, *ROLLUP) as up:
        assert "slots and calls played again" in "\n".join(up.said)
        ids += [sent(up, raw) for raw in raws[4:]]
        for intent, raw in zip(ids, raws, strict=True):
            assert sent(up, raw) == intent
            status, tx = up.ask("GET", f"/v1/transactions/{intent}?wait=confirmed&timeout=60")
            assert (status, tx["status"]) == (200, "confirmed")
        status, ready = up.ask("GET", "/readyz")
        assert (status, ready["checks"][-1]["name"]) == (200, "rollup:1")
        up.process.send_signal(signal.SIGTERM)
        assert up.end()[0] == 0


def sent(up: Served, raw: bytes) -> str:
    status, tx = up.ask("POST", "/v1/rollup/ledger/transactions", {"raw": raw.hex()})
    assert status in (200, 201, 202), tx
    return str(tx["id"])


@pytest.mark.slow
def test_accounts_are_tried_out_without_any_node(tmp_path: Path) -> None:
    """No file, no node: what it prints is typed, and ends when it is final."""
    with served(tmp_path, "--dev", "--block-ms", "50") as up:
        said = "\n".join(up.said)
        assert re.search(
            r"EVM node    http://127\.0\.0\.1:\d+ \(chain 31337 in this process\)", said
        )
        assert said.count("\n  evm:dev:dev") == 10
        (example,) = [line for line in up.said if line.startswith("try ")]
        command = example.split()[1:]
        assert command[:3] == ["laneway", "send", "evm:dev:dev0"]
        sent = subprocess.run(
            [sys.executable, "-m", *command, "--timeout", "60"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert sent.returncode == 0, sent.stderr
        assert "confirmed" in sent.stdout
        (curl,) = [line for line in up.said if line.startswith("or ")]
        body = json.loads(curl.partition(" -d ")[2].strip("'"))
        status, tx = up.ask("POST", "/v1/transactions", body)
        assert status == 202
        status, tx = up.ask("GET", f"/v1/transactions/{tx['id']}?wait=confirmed&timeout=60")
        assert (status, tx["status"], tx["nonce"]) == (200, "confirmed", 1)
        assert up.ask("GET", "/readyz")[0] == 200
        up.process.send_signal(signal.SIGTERM)
        assert up.end()[0] == 0
    assert list(tmp_path.iterdir()) == [], "nothing is kept"
