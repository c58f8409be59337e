"""A client rides over the death of its server: waits, streams and sends go on with the next one."""

import threading
from pathlib import Path
from typing import Any

import pytest
from tests.wiring.test_server import served

from laneway.client.blocking import Client

QUICK = ("--set", "host.round_ms=20", "--set", "contract.search_ms=50")
LANE = "contract:Qm123"


@pytest.mark.slow
def test_a_wait_a_stream_and_a_send_survive_a_kill_of_the_server(tmp_path: Path) -> None:
    # The devnet's chain dies with its process, so nothing may be on it before the kill.
    with served(tmp_path, "--set", "host.round_ms=60000") as up:
        port = up.port
        with Client(f"http://127.0.0.1:{port}") as client:
            first = client.send(LANE, "first", key="1")
            waits = client.send(LANE, "waits", key="2")
            heard: dict[str, Any] = {}
            seen: list[str | None] = []

            def follow() -> None:
                for event in client.events(LANE, after=""):
                    if event.type == "transaction.confirmed":
                        seen.append(event.data.tx)
                    if len(seen) == 3:
                        return

            def wait() -> None:
                heard["done"] = waits.wait(15)

            def send() -> None:
                heard["sent"] = client.send(LANE, "late", key="3")

            threads = [threading.Thread(target=work, daemon=True) for work in (follow, wait)]
            for thread in threads:
                thread.start()
            up.process.kill()
            up.process.wait(20)
            threads.append(threading.Thread(target=send, daemon=True))
            threads[-1].start()
            with served(tmp_path, *QUICK, "--set", f"server.port={port}"):
                for thread in threads:
                    thread.join(20)
                assert heard["done"].block == 2
                ids = [first.id, waits.id, heard["sent"].id]
                assert [tx.id for tx in client.transactions(LANE)] == ids
                assert seen == ids
