"""Callers of every kind: who submit, replay, wait, look, pause, take back, send nonsense, follow
events and go away. What they were promised is kept for the judgement.
"""

import asyncio
from array import array
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from msgspec import json
from tests.load.chain import ThinChain

WINDOW = 12
"""Unlanded executions of one contract: who is further ahead of a slow machine waits."""
TICK_S = 0.02
CALLERS_MAX = 64
"""At once, each with a connection: a slow machine gets less load, not more callers."""
RUSH = 3
RUSH_SHARE = 0.125
"""The load begins with a rush: pools, caches and the allocator reach in the warm-up the size that
an hour's worst minute would give them later."""
ASIDE = 0.35
"""Other requests for each execution."""
READER_S_MAX = 8.0
"""How long a reader of events stays."""
RETIRE_S = 10.0
"""So often a contract falls silent for ever, and another begins."""
SEND_TRIES_MAX = 5
PROBLEMS_MAX = 20

ORDER = {"reason": "load"}

SIZES = ((0.85, range(20, 300)), (0.13, range(1_000, 4_000)), (0.02, range(8_000, 16_000)))
"""Bytes of a body, and how often."""

NONSENSE: tuple[tuple[str, str, bytes], ...] = (
    ("POST", "/v1/transactions", b"{"),
    ("POST", "/v1/transactions", b'{"lane": 7}'),
    ("POST", "/v1/transactions", b"\xff\xfe"),
    ("POST", "/v1/transactions", b"[" * 5_000),
    ("POST", "/v1/transactions", b'{"lane": "letters:a", "payload": {"data": "x"}}'),
    ("DELETE", "/v1/transactions", b""),
    ("GET", "/v1/transactions?limit=0", b""),
    ("GET", "/v1/transactions?cursor=%00", b""),
    ("GET", "/v1/transactions/nothing", b""),
    ("GET", "/v1/lanes/contract:nobody", b""),
    ("GET", "/nowhere", b""),
)
RAW = (b"", b"\x16\x03\x01\x02\x00", b"GET /livez HT", b"POST /v1/transactions HTTP/1.1\r\nHo")
"""First bytes of connections whose callers then go away."""


class Contract:
    """One caller's contract: it sends one behind the other, so its order is known."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lane = f"contract:{name}"
        self.number_next = 0
        self.accepted: array[int] = array("Q")
        self.taken_back: set[int] = set()
        """What was asked to be cancelled: it may have landed before."""
        self.last_id = ""
        self.busy = False

    def next(self) -> int:
        self.number_next += 1
        return self.number_next


class Traffic:
    def __init__(self, url: str, chain: ThinChain, *, contracts: int, readers: int, seed: int):
        self.url = url
        self.chain = chain
        self.random = Random(seed)
        self.live = [Contract(f"contract-{n:04}") for n in range(contracts)]
        self.silent: list[Contract] = []
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self._readers = readers
        self._strokes: set[asyncio.Task[None]] = set()
        self._session = ClientSession(
            url,
            timeout=ClientTimeout(total=60),
            cookie_jar=DummyCookieJar(),
            connector=TCPConnector(limit=0),
        )

    def contracts(self) -> list[Contract]:
        return self.silent + self.live

    def complain(self, words: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(words)

    async def run(self, seconds: float, rate: float) -> None:
        """Steady for so long; then every caller finishes what it began, and leaves."""
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        readers = [asyncio.create_task(self._reader()) for _ in range(self._readers)]
        owed = retired = 0.0
        try:
            while (passed_s := loop.time() - begun_s) < seconds:
                await asyncio.sleep(TICK_S)
                wanted = rate * RUSH if passed_s < seconds * RUSH_SHARE else rate
                owed = min(owed + wanted * (loop.time() - begun_s - passed_s), wanted)
                while owed >= 1 and len(self._strokes) < CALLERS_MAX:
                    owed -= 1
                    self._stroke()
                if passed_s - retired > RETIRE_S:
                    retired = passed_s
                    self._retire()
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
        await asyncio.gather(*self._strokes)

    async def close(self) -> None:
        await self._session.close()

    def _retire(self) -> None:
        place = self.random.randrange(len(self.live))
        if not self.live[place].busy:
            name = f"contract-{len(self.live) + len(self.silent):04}"
            self.silent.append(self.live[place])
            self.live[place] = Contract(name)

    def _stroke(self) -> None:
        """One execution, and perhaps something else."""
        contract = self._free()
        if contract is None:
            self.counts["held back"] += 1
        else:
            contract.busy = True
            self._spawn(self._send(contract))
        if self.random.random() < ASIDE:
            self._spawn(self._aside())

    def _free(self) -> Contract | None:
        for _ in range(10):
            contract = self.random.choice(self.live)
            ahead = contract.number_next - self.chain.last(contract.name)
            if not contract.busy and ahead < WINDOW:
                return contract
        return None

    def _spawn(self, stroke: Awaitable[None]) -> None:
        task = asyncio.ensure_future(stroke)
        self._strokes.add(task)
        task.add_done_callback(self._strokes.discard)

    # Those who submit.

    async def _send(self, contract: Contract) -> None:
        try:
            act = self._choose()
            number = contract.next()
            body = {
                "lane": contract.lane,
                "payload": {"data": f"{number} {self._filler()}", "executor": "did:load"},
            }
            await act(contract, number, body)
        except (ClientError, TimeoutError, OSError) as error:
            self.complain(f"{contract.name}: {type(error).__name__}: {error}")
        finally:
            contract.busy = False

    def _choose(self) -> Callable[[Contract, int, Any], Awaitable[object]]:
        ways = (
            (70, self._submit),
            (15, self._submit_plainly),
            (6, self._submit_and_wait),
            (5, self._submit_twice),
            (2, self._submit_and_cancel),
            (1, self._submit_otherwise),
            (1, self._submit_paused),
        )
        return self.random.choices([way for _, way in ways], [share for share, _ in ways])[0]

    def _filler(self) -> str:
        shares = [share for share, _ in SIZES]
        (_, sizes), *_ = self.random.choices(SIZES, shares)
        return self.random.choice("abcdefgh") * self.random.choice(sizes)

    async def _submit(self, contract: Contract, number: int, body: Any, query: str = "") -> Any:
        """With a key: what nobody answered is sent again."""
        headers = {"Idempotency-Key": f"{contract.name}/{number}"}
        for attempt in range(SEND_TRIES_MAX):
            try:
                status, heard = await self._ask(
                    "POST", f"/v1/transactions{query}", json=body, headers=headers
                )
            except (ClientError, TimeoutError, OSError):
                if attempt == SEND_TRIES_MAX - 1:
                    raise
                self.counts["sent again"] += 1
                continue
            if status in (200, 202):
                self._accepted(contract, number, heard)
                return heard
            self.complain(f"{contract.name}/{number}: {status} {heard}")
            return None
        return None

    def _accepted(self, contract: Contract, number: int, heard: Any) -> None:
        self.counts["accepted"] += 1
        contract.accepted.append(number)
        contract.last_id = heard["id"]

    async def _submit_plainly(self, contract: Contract, number: int, body: Any) -> None:
        """Without a key, on a connection that is closed behind it."""
        headers = {"Connection": "close"}
        status, heard = await self._ask("POST", "/v1/transactions", json=body, headers=headers)
        if status == 202:
            self._accepted(contract, number, heard)
        else:
            self.complain(f"{contract.name}/{number}: {status} {heard}")

    async def _submit_and_wait(self, contract: Contract, number: int, body: Any) -> None:
        timeout = self.random.choice((1, 1, 20))
        await self._submit(contract, number, body, f"?wait=confirmed&timeout={timeout}")
        self.counts["waited"] += 1

    async def _submit_twice(self, contract: Contract, number: int, body: Any) -> None:
        first = await self._submit(contract, number, body)
        key = {"Idempotency-Key": f"{contract.name}/{number}"}
        status, heard = await self._ask("POST", "/v1/transactions", json=body, headers=key)
        self.counts["replayed"] += 1
        if first is not None and (status != 202 or heard["id"] != first["id"]):
            self.complain(f"{contract.name}/{number} sent twice: {status} {heard}")

    async def _submit_otherwise(self, contract: Contract, number: int, body: Any) -> None:
        """The same key with another body is refused."""
        await self._submit(contract, number, body)
        other = {**body, "payload": {"data": f"{number} other"}}
        key = {"Idempotency-Key": f"{contract.name}/{number}"}
        status, heard = await self._ask("POST", "/v1/transactions", json=other, headers=key)
        self.counts["conflicts"] += 1
        if status != 422:
            self.complain(f"{contract.name}/{number} with two bodies: {status} {heard}")

    async def _submit_and_cancel(self, contract: Contract, number: int, body: Any) -> None:
        heard = await self._submit(contract, number, body)
        if heard is not None:
            contract.taken_back.add(number)
            path = f"/v1/transactions/{heard['id']}/cancel"
            await self._expect({200, 202, 409}, "POST", path, json=ORDER)
            self.counts["cancels"] += 1

    async def _submit_paused(self, contract: Contract, number: int, body: Any) -> None:
        """It waits in a paused lane, perhaps to be taken back, and goes on when that is resumed."""
        if not contract.accepted:
            await self._submit(contract, number, body)
            return
        path = f"/v1/lanes/{contract.lane}"
        await self._expect({200, 202}, "POST", path + "/pause", json=ORDER)
        submit = self._submit_and_cancel if self._chance() else self._submit
        await submit(contract, number, body)
        await asyncio.sleep(self.random.uniform(0.1, 1.0))
        await self._expect({200, 202}, "POST", path + "/resume", json=ORDER)
        self.counts["pauses"] += 1

    # Those who look, and those who err.

    async def _aside(self) -> None:
        contract = self.random.choice(self.live)
        dice = self.random.random()
        try:
            if dice < 0.08:
                await self._err()
            elif dice < 0.11:
                await self._knock()
            elif dice < 0.40 and contract.last_id:
                await self._expect({200}, "GET", f"/v1/transactions/{contract.last_id}")
            elif dice < 0.60 and contract.accepted:
                await self._expect({200}, "GET", f"/v1/lanes/{contract.lane}")
            elif dice < 0.75:
                await self._pages(f"/v1/transactions?lane={contract.lane}&limit=20")
            elif dice < 0.85:
                await self._pages("/v1/transactions?status=confirmed&limit=30")
            elif dice < 0.93:
                key = f"{contract.name}/{len(contract.accepted)}"
                await self._expect({200}, "GET", f"/v1/transactions?key={key}")
            else:
                path = self.random.choice(("/v1/lanes?limit=20", "/livez", "/readyz"))
                await self._expect({200}, "GET", path)
        except (ClientError, TimeoutError, OSError) as error:
            self.complain(f"a look: {type(error).__name__}: {error}")

    async def _pages(self, path: str) -> None:
        heard = await self._expect({200}, "GET", path)
        if heard and heard["next_cursor"]:
            await self._expect({200}, "GET", f"{path}&cursor={heard['next_cursor']}")

    async def _err(self) -> None:
        method, path, body = self.random.choice(NONSENSE)
        headers = {"Content-Type": "application/json"} if self.random.random() < 0.8 else {}
        await self._expect({400, 404, 405, 415, 422}, method, path, data=body, headers=headers)
        self.counts["nonsense"] += 1

    async def _knock(self) -> None:
        """Open a connection, say half a word, and go."""
        host, port = self.url.removeprefix("http://").rsplit(":", 1)
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(self.random.choice(RAW))
        with suppress(ConnectionError):
            await writer.drain()
            await asyncio.sleep(self.random.uniform(0, 0.5))
        writer.transport.abort()
        self.counts["knocks"] += 1

    async def _expect(self, statuses: set[int], method: str, path: str, **given: Any) -> Any:
        status, heard = await self._ask(method, path, **given)
        if status not in statuses:
            self.complain(f"{method} {path}: {status} {heard}")
            return None
        return heard

    async def _ask(self, method: str, path: str, **given: Any) -> tuple[int, Any]:
        self.counts["requests"] += 1
        async with self._session.request(method, path, **given) as answer:
            raw = await answer.read()
            return answer.status, json.decode(raw) if "json" in answer.content_type else raw

    # Those who follow.

    async def _reader(self) -> None:
        """Comes, reads for a while, goes away without a word, and comes again."""
        cursor: str | None = None
        while True:
            query = f"?lane={self.random.choice(self.live).lane}" if self._chance() else ""
            headers = {"Last-Event-ID": cursor} if cursor and self._chance() else {}
            with suppress(TimeoutError, ClientError, OSError):
                async with asyncio.timeout(self.random.uniform(0.2, READER_S_MAX)):
                    cursor = await self._follow(query, headers) or cursor
            self.counts["streams"] += 1
            await asyncio.sleep(self.random.uniform(0, 1))

    def _chance(self) -> bool:
        return self.random.random() < 0.5

    async def _follow(self, query: str, headers: dict[str, str]) -> str | None:
        async with self._session.get("/v1/events" + query, headers=headers) as answer:
            if answer.status != 200:
                self.complain(f"/v1/events{query}: {answer.status}")
                return None
            cursor = None
            lines_max = self.random.choice((20, 1_000, 100_000))
            for _ in range(lines_max):
                line = await answer.content.readline()
                if not line:
                    break
                if line.startswith(b"id:"):
                    cursor = line[3:].strip().decode()
            return cursor
