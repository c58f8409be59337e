"""The fault proxy as a process: it says where it listens, and ends when told to."""

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path

from msgspec import json
from yarl import URL

from laneway.core.errors import BadRequest
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import read_rule, read_rules
from laneway.wire.urls import shown_url


def run_proxy(
    *,
    upstream: str,
    listen: str,
    rules: Sequence[str],
    path: Path | None,
    seed: int,
    as_json: bool,
) -> int:
    parsed = URL(upstream)
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise BadRequest(
            "upstream", f"{shown_url(upstream)!r} is not an address like http://127.0.0.1:8545"
        )
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65_535:
        raise BadRequest("listen", f"{listen!r} is not HOST:PORT")
    wanted = [read_rule(text) for text in rules]
    if path is not None:
        wanted += read_rules(path.read_bytes())
    proxy = ChaosProxy(upstream, wanted, seed=seed, host=host.strip("[]"), port=int(port))
    return asyncio.run(serve(proxy, as_json=as_json))


async def serve(proxy: ChaosProxy, *, as_json: bool) -> int:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with proxy:
        place = {"url": proxy.url, "ws_url": proxy.ws_url}
        print(json.encode(place).decode() if as_json else f"listening on {proxy.url}", flush=True)
        await ended.wait()
    struck = proxy.shown()
    if as_json:
        print(json.encode(struck).decode())
        return 0
    for rule in struck:
        print(f"{rule['fault']} {rule['method']}: struck {rule['struck']} times")
    return 0
