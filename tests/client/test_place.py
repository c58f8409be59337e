"""Laws of where the server is and who calls: arguments, then the environment, then loopback."""

from pathlib import Path

import pytest

from laneway.client.place import URL, find_place, read_token
from laneway.core.errors import BadRequest


def secret(path: Path, text: str, mode: int = 0o600) -> Path:
    path.touch(mode)
    path.chmod(mode)
    path.write_text(text)
    return path


def test_the_argument_wins_over_the_environment_and_that_over_the_default() -> None:
    assert find_place(environ={}).url == URL
    environ = {"LANEWAY_URL": "http://b:1/"}
    assert find_place(environ=environ).url == "http://b:1"
    place = find_place("https://c/queue/", environ=environ)
    assert (place.scheme, place.host, place.port, place.prefix) == ("https", "c", 443, "/queue")
    assert find_place("http://c").port == 80


def test_a_key_comes_from_the_argument_a_file_or_the_environments_file(tmp_path: Path) -> None:
    file = secret(tmp_path / "key", "lw_a_1\n# a note\n")
    environ = {"LANEWAY_API_KEY_FILE": str(secret(tmp_path / "other", "lw_b_2"))}
    assert find_place(environ={}).token is None
    assert find_place(environ=environ).token == "lw_b_2"
    assert find_place(api_key_file=file, environ=environ).token == "lw_a_1"
    place = find_place(api_key="lw_c_3", api_key_file=file, environ=environ)
    assert place.headers()["Authorization"] == "Bearer lw_c_3"


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8547", "ftp://x", "http://", "http://x:port", "http://u:p@x", "http://x?a=1"]
)
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(BadRequest):
        find_place(url, environ={})


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="chmod 600"):
        read_token(secret(tmp_path / "key", "lw_a_1", 0o644))


def test_a_key_file_without_a_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="empty"):
        read_token(secret(tmp_path / "key", "\n"))
    with pytest.raises(BadRequest, match="cannot be read"):
        read_token(tmp_path / "nothing")
    binary = secret(tmp_path / "binary", "")
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(BadRequest, match="not text"):
        read_token(binary)
    for word in ("", "a\nb", "ü"):
        with pytest.raises(BadRequest):
            find_place(api_key=word, environ={})
