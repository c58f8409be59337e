"""An address is printed without its secrets, and a reader still knows which one it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.urls import REDACTED, scrubbed, shown_url, shown_urls

KEY = "9aa3d95b3bc440fa88ea12eaa4456161"
R = REDACTED


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8545",
        "http://127.0.0.1:8545/",
        "https://node.example/v3/rpc",
        "ws://[::1]:19800/ext/bc/C/rpc",
        "https://node.example/V2/Sepolia/api/jsonrpc",
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
        ("https://a.example/v2/canaryplain", f"https://a.example/v2/{R}"),
        ("https://a.example/canaryword/", f"https://a.example/{R}/"),
        ("https://a.example/v123/rpc2", f"https://a.example/{R}/{R}"),
        ("redis://h:1/canaryword", "redis://h:1/canaryword"),
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
        (f"redis://cache:{KEY}/0", f"redis://cache:{R}/0"),
        ("http://größe.example/x", "http://größe.example/x"),
        ("http://a\x1b[2J.example/", "http://a\\x1b[2J.example/"),
        ("http://a.example/\x1b[2J", f"http://a.example/{R}"),
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


@pytest.mark.parametrize(
    ("url", "said", "shown"),
    [
        (f"http://h/v3/{KEY}", f"/v3/{KEY} was not found", f"/v3/{R} was not found"),
        (f"http://h/?key={KEY}&a=b", f"no key {KEY}: b", f"no key {R}: b"),
        ("http://u:p%40ss@h", "p@ss and p%40ss of u:p%40ss", f"{R} and {R} of {R}"),
        (f"http://{KEY}@h", f"{KEY} is no user", f"{R} is no user"),
        (f"http://h/#{KEY}", KEY, R),
        (f"u:{KEY}@h", KEY, R),
        (f"http://u:{KEY}@h", f"cut off at {KEY[:20]}", f"cut off at {R}"),
        ("http://u:p%40ss@h", "Authorization: Basic dTpwQHNz", f"Authorization: Basic {R}"),
        ("http://token@h", "Authorization: Basic dG9rZW46", f"Authorization: Basic {R}"),
        ("http://h/v2/canaryword", "/v2/canaryword is unknown", f"/v2/{R} is unknown"),
        ("redis://h/0", "h has 0", "h has 0"),
        ("http://u:pw@h", "pw is short", "pw is short"),
    ],
)
def test_a_server_that_repeats_the_secret_is_not_quoted(url: str, said: str, shown: str) -> None:
    assert scrubbed(said, url) == shown


def test_other_secrets_are_left_out_too() -> None:
    assert scrubbed("hunter2 is wrong", "http://h", "hunter2", "") == f"{R} is wrong"


def test_each_address_in_a_text_is_shown_without_its_secrets() -> None:
    said = f"url='ws://u:{KEY}@h:1/x', see <https://h/v3/{KEY}> and \"redis://:p@h\""
    shown = f"url='ws://{R}@h:1/x', see <https://h/v3/{R}> and \"redis://{R}@h\""
    assert shown_urls(said) == shown
    assert shown_urls("no address at all: x") == "no address at all: x"
