"""An answer in HTTP is read whole however it is cut, and nothing else is taken for one."""

import pytest

from laneway.wire import http_answer as module
from laneway.wire.http_answer import BadAnswer, HttpAnswer
from laneway.wire.limits import HEAD_BYTES_MAX

SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nRetry-After:  7 \r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n2;more=1\r\nlo\r\n0\r\n\r\n"
)
TRAILED = CHUNKED[:-2] + b"Expires: never\r\nAnd: more\r\n\r\n"
CONTINUED = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" + SIZED
EMPTY = b"HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n"
NOTHING = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def fed(*parts: bytes) -> HttpAnswer:
    answer = HttpAnswer()
    for part in parts:
        answer.feed(part)
    return answer


@pytest.mark.parametrize(
    ("raw", "status", "content"),
    [
        (SIZED, 200, b"hello"),
        (CHUNKED, 200, b"hello"),
        (TRAILED, 200, b"hello"),
        (CONTINUED, 200, b"hello"),
        (EMPTY, 204, b""),
        (NOTHING, 200, b""),
        (SIZED.replace(b"200 OK", b"500 Oh"), 500, b"hello"),
    ],
)
def test_an_answer_is_the_same_however_it_is_cut(raw: bytes, status: int, content: bytes) -> None:
    whole = fed(raw)
    assert (whole.status, whole.content, whole.is_whole) == (status, content, True)
    assert whole.keeps_alive()
    slowly = HttpAnswer()
    for place in range(len(raw)):
        assert not slowly.is_whole
        slowly.feed(raw[place : place + 1])
    assert (slowly.status, slowly.content, slowly.is_whole) == (status, content, True)
    assert slowly.keeps_alive()


def test_headers_are_found_by_any_case() -> None:
    answer = fed(SIZED)
    assert answer.header(b"retry-after") == "7"
    assert answer.header(b"location") is None


def test_without_a_length_it_goes_on_until_the_end() -> None:
    answer = fed(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo")
    assert not answer.is_whole
    answer.end()
    assert (answer.content, answer.is_whole) == (b"hello", True)


@pytest.mark.parametrize("raw", [b"", b"HTTP/1.1 200", SIZED[:-1], CHUNKED[:-1]])
def test_an_end_too_early_leaves_it_cut(raw: bytes) -> None:
    answer = fed(raw)
    answer.end()
    assert not answer.is_whole
    assert not answer.keeps_alive()


@pytest.mark.parametrize(
    ("version", "word", "kept"),
    [
        (b"HTTP/1.1", b"", True),
        (b"HTTP/1.1", b"Connection: Close\r\n", False),
        (b"HTTP/1.1", b"Connection: keep-alive\r\n", True),
        (b"HTTP/1.0", b"", False),
        (b"HTTP/1.0", b"Connection: Keep-Alive\r\n", True),
    ],
)
def test_a_connection_is_used_again_if_the_server_keeps_it(
    version: bytes, word: bytes, kept: bool
) -> None:
    answer = fed(version + b" 200 OK\r\n" + word + b"Content-Length: 0\r\n\r\n")
    assert answer.is_whole
    assert answer.keeps_alive() is kept


@pytest.mark.parametrize("parts", [(SIZED + b"more",), (SIZED, b"more than that")])
def test_what_comes_behind_an_answer_spoils_the_connection(parts: tuple[bytes, ...]) -> None:
    answer = fed(*parts)
    assert (answer.content, answer.is_whole) == (b"hello", True)
    assert not answer.keeps_alive()


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no status"),
        (b"HTTP/2 200\r\n\r\n", "no status"),
        (b"HTTP/1.1 OK\r\n\r\n", "no status"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "'-5' is not a number"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n" % (b"9" * 5_000), "is more than"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "size is no number"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\n", "size is no number"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", "size is no number"),
        (b"HTTP/1.1 200 OK\r\nX: " + bytes(HEAD_BYTES_MAX), "head has more"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * HEAD_BYTES_MAX + b"\r\n\r\n", "head has more"),
    ],
)
def test_what_is_no_answer_is_told(raw: bytes, problem: str) -> None:
    with pytest.raises(BadAnswer, match=problem):
        fed(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + bytes(11),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 11,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n5\r\n",
    ],
)
def test_more_than_the_bound_is_not_read(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RPC_ANSWER_BYTES_MAX", 10)
    with pytest.raises(BadAnswer, match="more than 10"):
        fed(raw)
