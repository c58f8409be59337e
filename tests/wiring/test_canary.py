"""No secret of a configuration is printed, whatever is asked and whatever the other side says.

Every setting that can hold a secret holds one of its own, and so does every file that a setting
names. Then everything that a program prints is searched: commands, logs, routes, errors.
"""

import asyncio
import base64
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from traceback import format_exception

import pytest
from tests.canary import Witness
from tests.redis_servers import DURABLE, server

from laneway.chains.contract_rest import RestHost
from laneway.core.errors import LanewayError
from laneway.engine.system import SystemClock
from laneway.kinds.site import ROUTES
from laneway.signers.web3signer import Web3Signer
from laneway.stores.redis import RedisStore
from laneway.wire.jsonrpc import RpcCall, RpcClient
from laneway.wire.rpc_socket import RpcSocket
from laneway.wiring.redaction import free_texts
from laneway.wiring.store import open_store

HOLDER = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"
PAYEE = b"celestia1qqqsyqcyq5rqwzqfpg9scrgwpugpzysn4gjlzw"
TX = "tx_" + "0" * 32


class Echo(socketserver.BaseRequestHandler):
    """Refuses every request, and repeats all that it was asked with: line, headers, password."""

    def handle(self) -> None:
        self.request.settimeout(5)
        raw = b""
        while b"\r\n\r\n" not in raw:
            part = self.request.recv(65_536)
            raw += part
            if not part or not raw.startswith((b"GET", b"POST")):
                return  # A database's protocol: it hangs up.
        head = raw.partition(b"\r\n\r\n")[0]
        said = head
        for line in head.splitlines():
            if line.lower().startswith(b"authorization: basic "):
                said += b"\n" + base64.b64decode(line.split()[-1])
        answer = b"HTTP/1.1 401 No\r\nContent-Type: text/plain\r\nConnection: close\r\n"
        self.request.sendall(answer + b"Content-Length: %d\r\n\r\n" % len(said) + said)


@contextmanager
def echoing() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as listening:
        listening.daemon_threads = True
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        yield int(listening.server_address[1])
        listening.shutdown()
        thread.join()


@contextmanager
def dead() -> Iterator[int]:
    """A port that is ours, and on which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


class Planted:
    """A folder with a configuration in which every secret is another one."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.secrets: list[str] = []
        self.paths: set[str] = set()
        self.environ = {name: text for name, text in os.environ.items() if "LANEWAY" not in name}

    def secret(self, name: str) -> str:
        made = f"k{sha256(name.encode()).hexdigest()[:30]}"
        self.secrets.append(made)
        return made

    def word(self, name: str) -> str:
        """A key that looks like a plain word."""
        letters = str.maketrans("0123456789", "ghijklmnop")
        made = f"w{sha256(name.encode()).hexdigest()[:10].translate(letters)}"
        self.secrets.append(made)
        return made

    def address(self, path: str, scheme: str = "http") -> str:
        """With a password, two keys in its path and another one in its query."""
        self.paths.add(path)
        place, user = f"127.0.0.1:{self.port}", f"user:{self.secret(f'{path} password')}"
        if scheme in ("postgresql", "redis"):
            return f"{scheme}://{user}@{place}/0"
        key, word = self.secret(f"{path} path"), self.word(f"{path} word")
        return f"{scheme}://{user}@{place}/v3/{key}/{word}?apikey={self.secret(f'{path} query')}"

    def plain(self, path: str) -> str:
        """An address that takes no query."""
        url = self.address(path).partition("?")[0]
        self.secrets.pop()
        return url

    def host(self) -> str:
        return self.plain("host.url")

    def signer(self) -> str:
        return f"web3signer:{self.plain('evm.accounts.signer')}#{HOLDER}"

    def file(self, name: str, content: str) -> str:
        file = self.folder / name
        file.touch(0o600)
        file.write_text(content)
        return name

    def key(self, name: str) -> str:
        made = sha256(name.encode()).hexdigest()
        self.secrets.append(made)
        return made

    def nodes(self, kind: str, scheme: str = "http", **more: str) -> str:
        """Two nodes: one is an address alone, the other a table."""
        told = {"url": self.address(f"{kind}.nodes.url", scheme), "name": "second", **more}
        table = ", ".join(f'{key} = "{text}"' for key, text in told.items())
        return f'["{self.address(f"{kind}.nodes", scheme)}", {{ {table} }}]'

    def common(self) -> str:
        self.paths.add("host.password")
        self.environ["LANEWAY_HOST__PASSWORD"] = self.secret("host.password")
        token = f"lw_ann_{self.secret('token')}"
        self.file("ann.token", token)
        self.file(
            "keys.toml", f'[[keys]]\nid = "ann"\nsha256 = "{sha256(token.encode()).hexdigest()}"\n'
        )
        hook = base64.b64encode(self.secret("webhook")[:30].encode()).decode()
        self.file("hook.txt", f"whsec_{hook}\n")
        self.secrets.append(hook)
        self.paths.add("cosmos.accounts.signer")
        self.file("cosmos.key", self.key("cosmos"))
        return f"""
[server]
port = 0
keys_file = "keys.toml"
[host]
kind = "rest"
url = "{self.host()}"
connect_ms = 500
[log]
level = "debug"
[eoa]
poll_ms = 200
[sequence]
poll_ms = 200
[[webhooks]]
id = "hook"
url = "{self.address("webhooks.url")}"
secret_file = "hook.txt"
allow_private = true
[[evm]]
name = "dev"
chain_id = 1337
nodes = {self.nodes("evm", ws_url=self.address("evm.nodes.ws_url", "ws"))}
[[evm.accounts]]
name = "hot"
signer = "{self.signer()}"
[[cosmos]]
name = "sea"
chain_id = "sea-1"
nodes = {self.nodes("cosmos")}
[[cosmos.accounts]]
name = "main"
signer = "file:cosmos.key"
"""

    def rollup(self) -> str:
        self.paths.add("rollup.authorizer.signer")
        self.file("rollup.key", self.key("rollup"))
        return f"""
[[rollup]]
name = "pay"
service = 1
nodes = {self.nodes("rollup", "ws")}
[rollup.authorizer]
signer = "file:rollup.key"
"""

    def store(self, scheme: str) -> str:
        return f'[store]\npath = "{self.address("store.path", scheme)}"\nstart_ms_max = 1\n'

    def write(self, *texts: str) -> None:
        (self.folder / "laneway.toml").write_text("".join(texts))

    def run(self, *words: str) -> str:
        """All that a command says."""
        command = [sys.executable, "-m", "laneway", *words]
        ended = subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip
        return f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"

    def witness(self) -> Witness:
        return Witness(*(secret.encode() for secret in self.secrets))


@pytest.fixture(params=["dead", "echoing"])
def planted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Planted]:
    with dead() if request.param == "dead" else echoing() as port:
        yield Planted(tmp_path, port)


def test_every_setting_that_can_hold_a_secret_holds_one(tmp_path: Path) -> None:
    planted = Planted(tmp_path, 9)
    planted.write(planted.common(), planted.rollup(), planted.store("redis"))
    texts = free_texts()
    assert planted.paths == texts.addresses | texts.signers | texts.secrets


COMMANDS = (
    ("config", "show"),
    ("config", "show", "--origin"),
    ("config", "show", "--json"),
    ("config", "check"),
    ("doctor",),
    ("doctor", "--json"),
    ("up",),
)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["postgresql", "redis"])
def test_no_command_prints_a_secret(planted: Planted, scheme: str) -> None:
    planted.write(planted.common(), planted.rollup(), planted.store(scheme))
    witness = planted.witness()
    for words in COMMANDS:
        said = planted.run(*words)
        assert "Traceback" not in said
        if words[0] == "config":
            assert said.startswith("0\n"), said
        else:
            assert "127.0.0.1" in said
        witness.hears(" ".join(words), said)
    witness.is_content()


@pytest.mark.slow
def test_a_rollup_whose_nodes_refuse_prints_no_secret(tmp_path: Path) -> None:
    with echoing() as port:
        planted = Planted(tmp_path, port)
        planted.write(planted.common(), planted.rollup())
        witness = planted.witness()
        up = Up(planted, "text")
        try:
            for path in ("/readyz", "/v1/rollup/pay", "/v1/lanes/rollup:pay/health"):
                said = up.ask("GET", path)
                assert "no node of its chain could be reached" in said, said
                witness.hears(path, said)
        finally:
            said = up.end()
        assert f"127.0.0.1:{port}" in said
        witness.hears("up", said)
    witness.is_content()


@pytest.mark.slow
def test_a_redis_that_refuses_the_password_is_named_without_it(tmp_path: Path) -> None:
    with server(*DURABLE) as redis:
        redis.say("CONFIG", "SET", "requirepass", "another")
        planted = Planted(tmp_path, redis.port)
        planted.write(planted.common(), planted.store("redis"))
        witness = planted.witness()
        for words in (("doctor",), ("up",)):
            said = planted.run(*words)
            assert "does not let us in" in said
            witness.hears(" ".join(words), said)
        witness.is_content()


class Up:
    """A server that runs, and everything that it says."""

    def __init__(self, planted: Planted, form: str) -> None:
        self.planted = planted
        self.said: list[str] = []
        self.token = (planted.folder / "ann.token").read_text()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "laneway", "up", "--set", f"log.format={form}"],
            cwd=planted.folder, env=planted.environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.begun = threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        assert self.begun.wait(90), self.said
        where = next(line for line in self.said if line.startswith("REST"))
        self.port = int(where.partition("127.0.0.1:")[2].partition("/")[0])

    def read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            for line in stream:
                self.said.append(line)
                if line.startswith("access"):
                    self.begun.set()
        self.begun.set()

    def ask(self, method: str, path: str, body: bytes | None = None, *, known: bool = True) -> str:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": "application/json"}
        if known:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            # Of a stream that does not end the beginning is read.
            content = answer.read1(65_536) if "events" in path else answer.read()
            return f"{answer.status} {answer.headers} {content.decode()}"
        finally:
            connection.close()

    def end(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.reader.join(30)
        return "".join(self.said)


def places() -> Iterator[str]:
    """Every route that reads, with something for each name in it."""
    for route in ROUTES:
        if route.method != "GET":
            continue
        lanes = ("contract:Qm1", "evm:dev:hot", "cosmos:sea:main", "delivery:hook")
        for lane in lanes if "{lane}" in route.path else ("",):
            path = route.path.replace("{lane}", lane).replace("{webhook}", "hook")
            yield (
                path.replace("{id}", TX)
                .replace("{rollup}", "pay")
                .replace("{", "")
                .replace("}", "")
            )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_server_prints_and_answers_no_secret(planted: Planted, form: str) -> None:
    planted.write(planted.common())
    witness = planted.witness()
    up = Up(planted, form)
    try:
        transfer = b'{"to": "0x%s", "value": "1"}' % (b"11" * 20)
        for lane, payload in (
            (b"contract:Qm1", b'{"data": "x"}'),
            (b"evm:dev:hot", transfer),
            (
                b"cosmos:sea:main",
                b'{"to": "celestia1qqqsyqcyq5rqwzqfpg9scrgwpugpzysn4gjlzw", "amount": "5"}',
            ),
        ):
            body = b'{"lane": "%s", "payload": %s}' % (lane, payload)
            witness.hears(f"posted to {lane.decode()}", up.ask("POST", "/v1/transactions", body))
        witness.hears("a webhook's test", up.ask("POST", "/v1/webhooks/hook/test", b"{}"))
        for _ in range(2):
            time.sleep(1)
            for path in places():
                witness.hears(path, up.ask("GET", path))
            witness.hears("anonymous /readyz", up.ask("GET", "/readyz", known=False))
        witness.hears("no key", up.ask("GET", "/v1/lanes", known=False))
    finally:
        witness.hears("its output", up.end())
    witness.reads(planted.folder, besides=[planted.folder / name for name in GIVEN])
    witness.is_content()


GIVEN = ("laneway.toml", "ann.token", "hook.txt", "cosmos.key")
"""Where the secrets were written by their owner."""


@pytest.mark.slow
def test_no_error_of_the_library_holds_a_secret(planted: Planted) -> None:
    """Neither its text nor its operands, nor those that a traceback shows with it."""
    rest = RestHost(planted.host(), password=planted.secret("host.password"))
    client = RpcClient(planted.address("evm.nodes.url"), name="a")
    events = RpcSocket(planted.address("rollup.nodes.url", "ws"), name="b")
    heads = planted.address("evm.nodes.ws_url", "ws")
    signer = planted.signer().removeprefix("web3signer:").partition("#")
    remote = Web3Signer(signer[0], signer[2])
    stores = [planted.address("store.path", scheme) for scheme in ("redis", "postgresql")]

    async def subscribed() -> None:
        socket = RpcSocket(heads, name="c")
        try:
            await socket.subscribe(RpcCall("eth_subscribe", ("newHeads",)), "unsubscribe", 1_000)
        finally:
            await socket.close()

    async def opened(address: str) -> None:
        store = open_store(address, SystemClock())
        assert isinstance(store, RedisStore)
        await store.open()

    async def main() -> None:
        for what, asked in (
            ("rest", rest.latest_block("Qm1")),
            ("rpc", client.ask([RpcCall("eth_chainId")], 1_000)),
            ("socket", events.ask([RpcCall("bestBlock")], 1_000)),
            ("heads", subscribed()),
            ("signer", remote.sign(b"x")),
            *((address.partition(":")[0], opened(address)) for address in stores),
        ):
            with pytest.raises(LanewayError) as caught:
                await asked
            error = caught.value
            operands = f"{error} {error!r} {error.args!r} {vars(error)!r}"
            witness.hears(what, operands + "".join(format_exception(error)))
        for one in (rest, client, events, remote):
            witness.hears("its repr", repr(one))
            await one.close()

    witness = planted.witness()
    asyncio.run(main())
    witness.is_content()
