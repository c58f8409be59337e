"""Signatures as the text of Standard Webhooks has them, computed here by hand."""

import base64
import hashlib

import pytest

from laneway.feeds.signature import read_secret, signed

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""The example of the specification's own libraries."""


def hmac_sha256(key: bytes, content: bytes) -> bytes:
    """RFC 2104 §2, letter by letter."""
    block = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in block) + content).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in block) + inner).digest()


def test_the_specifications_example_is_signed_as_it_says() -> None:
    headers = signed(
        [read_secret(SECRET)],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_while_secrets_rotate_each_of_them_signs() -> None:
    old, new = b"o" * 24, b"n" * 64
    value = signed([new, old], "msg_1", 7, b"{}")["webhook-signature"]
    expected = [
        "v1," + base64.b64encode(hmac_sha256(key, b"msg_1.7.{}")).decode() for key in (new, old)
    ]
    assert value.split(" ") == expected


@pytest.mark.parametrize(
    "text", ["", "secret", "whsec_", "whsec_***", "whsec_" + "QQ==" * 3, "whsec_" + "QUFB" * 30]
)
def test_a_bad_secret_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match="secret") as caught:
        read_secret(text)
    assert len(text) < 8 or text.removeprefix("whsec_") not in str(caught.value)
