"""The document is what is served: checked by hand, and by schemathesis' own cases."""

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.stage import CALL, Client, running, serving

from laneway.kinds.site import DOCUMENT, ROUTES


def test_the_document_names_every_route_and_every_answer_has_a_type() -> None:
    paths = DOCUMENT["paths"]
    assert sum(len(operations) for operations in paths.values()) == len(ROUTES)
    schemas = DOCUMENT["components"]["schemas"]
    for route in ROUTES:
        operation = paths[route.path][route.method.lower()]
        assert operation["description"], route.path
        assert {str(status) for status in route.answers} <= set(operation["responses"])
        assert set(re.findall(r"{(\w+)}", route.path)) == {
            given["name"] for given in operation["parameters"] if given["in"] == "path"
        }
    for name in re.findall(r"#/components/schemas/(\w+)", str(DOCUMENT)):
        assert name in schemas
    names = [route.name() for route in ROUTES]
    assert len(set(names)) == len(names)


def test_the_document_is_served() -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.get("/openapi.json")
            assert heard.status == 200
            assert heard.body["openapi"] == "3.1.0"
            assert set(heard.body["paths"]) == {route.path for route in ROUTES}

    asyncio.run(main())


def test_a_foreign_method_or_path_is_a_problem() -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.ask("DELETE", "/v1/transactions")
            assert (heard.status, heard.code) == (405, "method_not_allowed")
            assert heard.headers["Allow"] == "GET, POST"
            assert (await client.get("/v2/lanes")).code == "no_such_path"

    asyncio.run(main())


class Background:
    """A server on a thread of its own, for a tester in another process."""

    def __init__(self) -> None:
        self.url = ""
        self.intents: list[str] = []
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with running() as (_, client):
            self.url = client.url
            self.intents = [(await client.send(str(n)))["id"] for n in range(3)]
            await self._stock(client)
            self._ready.set()
            await self._end.wait()

    async def _stock(self, client: Client) -> None:
        """A lane that is paused with work in it, so that every action has something to do."""
        await client.send(lane="contract:Paused")
        await client.post("/v1/lanes/contract:Paused/pause", {"reason": "for the test"})
        waits = await client.post("/v1/transactions", CALL | {"lane": "contract:Paused"})
        self.intents.append(waits.body["id"])

    def __enter__(self) -> "Background":
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        assert self._end is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(30)


@pytest.fixture
def background() -> Iterator[Background]:
    with Background() as served:
        yield served


SETTINGS = """
[parameters]
"path.id" = {ids}
"path.lane" = ["contract:Qm1", "contract:Paused", "contract:Nobody"]

[checks.positive_data_acceptance]
# A key may be taken by another body, and a cursor is only good where it came from.
expected-statuses = [200, 202, 404, 409, 422]

[checks.negative_data_rejection]
# A list that is too long may be found too large before it is read.
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]

[[operations]]
include-path = "/api/execute-smart-contract"
# The node answers bad input with HTTP 200 and `status: false`, and so do we (seed 004 §6).
checks.negative_data_rejection.enabled = false
"""


@pytest.mark.slow
def test_no_generated_request_meets_a_5xx_or_an_undocumented_answer(
    background: Background, tmp_path: Path
) -> None:
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(SETTINGS.format(ids=background.intents))
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings)),
        *("run", f"{background.url}/openapi.json"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", "25"),
        # A stream has no end to wait for; test_events.py speaks for it.
        *("--exclude-path", "/v1/events"),
        *("--generation-deterministic", "--continue-on-failure", "--no-color"),
    ]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
    )
    assert ran.returncode == 0, ran.stdout[-8_000:] + ran.stderr[-2_000:]
    assert re.search(r"\b[1-9][0-9]{2,} generated", ran.stdout), ran.stdout[-2_000:]
