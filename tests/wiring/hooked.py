"""A server with webhooks: its configuration in a file, its secrets in another."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.feeds.receiver import SECRET
from tests.server.stage import QUICK, Client

from laneway.wiring.config import Configuration, load
from laneway.wiring.server import Up


def configured(
    folder: Path, *urls: str, flags: dict[str, str] | None = None, more: str = ""
) -> Configuration:
    secret = folder / "hook.secret"
    secret.touch(mode=0o600)
    secret.write_text(SECRET + "\n")
    text = ""
    for number, url in enumerate(urls):
        name = "hook" if number == 0 else f"hook{number}"
        text += f'[[webhooks]]\nid = "{name}"\nurl = "{url}"\nsecret_file = "{secret}"\n'
        text += f"allow_private = true\n{more}\n"
    (folder / "laneway.toml").write_text(text)
    given = QUICK | {"server.port": "0"} | (flags or {})
    return load(str(folder / "laneway.toml"), {}, given)


@asynccontextmanager
async def hooked(configuration: Configuration) -> AsyncIterator[tuple[Up, Client]]:
    async with Up(configuration) as up, Client(up.server.urls[0]) as client:
        yield up, client
