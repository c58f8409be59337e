"""The fault proxy as a process: it prints where it listens, and ends on a signal."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec import json
from yarl import URL

from laneway.core.errors import BadRequest
from laneway.core.urls import shown_url
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import read_rule, read_rules
from laneway.devnets.node.serving import Greeting, serve


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
    asyncio.run(serve(proxy, greeting, as_json=as_json))
    struck = proxy.rules_view()
    if as_json:
        print(json.encode(struck).decode())
        return 0
    for rule in struck:
        print(f"{rule['fault']} {rule['method']}: struck {rule['struck']} times")
    return 0


def greeting(proxy: ChaosProxy) -> Greeting:
    return {"url": proxy.url, "ws_url": proxy.ws_url}, [f"listening on {proxy.url}"]
