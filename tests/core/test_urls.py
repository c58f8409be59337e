"""An address is printed without its secrets, and a reader still knows which one it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.urls import REDACTED, shown_url
from laneway.wire import urls as wire_urls

KEY = "9aa3d95b3bc440fa88ea12eaa4456161"
R = REDACTED


def test_there_is_one_function() -> None:
    assert wire_urls.shown_url is shown_url


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8545",
        "http://127.0.0.1:8545/",
        "https://node.example/v3/rpc",
        "ws://[::1]:19800/ext/bc/C/rpc",
        "postgresql://db.example:5432/laneway_production_2026",
        "postgresql://a:5432,b:5433/laneway",
        "postgresql:///laneway?host=/run/postgresql&sslmode=require",
        "redis://127.0.0.1:6379/0",
        "redis+cluster://127.0.0.1:7000",
        "laneway.db",
        "/var/lib/laneway/9aa3d95b3bc440fa88ea12eaa4456161.db",
        ":memory:",
        "devnet",
        "",
    ],
)
def test_what_holds_no_secret_is_shown_as_it_is(url: str) -> None:
    assert shown_url(url) == url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://user:{KEY}@node.example/rpc", f"https://{R}@node.example/rpc"),
        (f"https://{KEY}@node.example", f"https://{R}@node.example"),
        (f"redis://:{KEY}@127.0.0.1:6379/0", f"redis://{R}@127.0.0.1:6379/0"),
        (f"postgresql://u:{KEY}@[::1]:5432/db", f"postgresql://{R}@[::1]:5432/db"),
        ("redis://:p/ss?w#rd@h:1/0", f"redis://{R}@h:1/0"),
        ("http://u:a@b@host:1/x", f"http://{R}@host:1/x"),
        (f"https://node.example/v3/{KEY}", f"https://node.example/v3/{R}"),
        (f"wss://node.example/{KEY}/ws/", f"wss://node.example/{R}/ws/"),
        ("https://a.example/abcdefg1", f"https://a.example/{R}"),
        ("https://a.example/abcdefghijklmnopq", f"https://a.example/{R}"),
        ("https://a.example/bot1:AA/x", f"https://a.example/{R}/x"),
        ("https://a.example/w@x", f"https://a.example/{R}"),
        (f"https://a.example/rpc?key={KEY}&a=", f"https://a.example/rpc?key={R}&a="),
        (f"https://a.example?{KEY}", f"https://a.example?{R}"),
        (f"https://a.example/?{KEY}=1", f"https://a.example/?{R}={R}"),
        (f"https://a.example/#{KEY}", f"https://a.example/#{R}"),
        (f"postgresql://h/db?password={KEY}&db=x", f"postgresql://h/db?password={R}&db=x"),
        (f"user:{KEY}@node.example:1/rpc", f"{R}@node.example:1/rpc"),
        ("http://a.example/\x1b[2J", "http://a.example/\\x1b[2J"),
    ],
)
def test_secrets_are_hidden_and_the_host_stays(url: str, shown: str) -> None:
    assert shown_url(url) == shown


@given(st.text(min_size=8, max_size=40))
def test_no_password_and_no_query_value_is_ever_shown(secret: str) -> None:
    secret = f"Zq{secret}qZ"
    for url in (
        f"https://user:{secret}@node.example:1/rpc",
        f"https://user:{secret}@node.example:1/rpc?x={secret.replace('@', '')}",
        f"redis://:{secret}@node.example:1/0",
    ):
        assert shown_url(url).rpartition("@")[0].removesuffix(R) in ("https://", "redis://")
        assert secret not in shown_url(url)
        assert "node.example:1" in shown_url(url)


@given(st.text(max_size=200))
def test_any_text_is_printed_on_one_line(text: str) -> None:
    assert shown_url(text).isprintable()
