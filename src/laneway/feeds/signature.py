"""Standard Webhooks 1.0: secrets and signatures."""

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Sequence
from hashlib import sha256
from hmac import new

PREFIX = "whsec_"
SECRET_BYTES_MIN = 24
SECRET_BYTES_MAX = 64
"""The specification's own bounds, "Signature scheme"."""


def read_secret(text: str) -> bytes:
    """The key in `whsec_` and base64. What is wrong is reported without the secret."""
    if not text.startswith(PREFIX):
        raise ValueError(f"a secret begins with {PREFIX}")
    try:
        secret = b64decode(text.removeprefix(PREFIX), validate=True)
    except (Error, ValueError):
        raise ValueError(f"after {PREFIX} a secret is base64") from None
    if not SECRET_BYTES_MIN <= len(secret) <= SECRET_BYTES_MAX:
        raise ValueError(f"a secret has {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} bytes")
    return secret


def signed(secrets: Sequence[bytes], name: str, timestamp_s: int, body: bytes) -> dict[str, str]:
    """The three headers; one signature for each secret that is in force while they rotate."""
    content = b"%s.%d.%s" % (name.encode(), timestamp_s, body)
    signatures = (b64encode(new(secret, content, sha256).digest()) for secret in secrets)
    return {
        "webhook-id": name,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": " ".join(f"v1,{signature.decode()}" for signature in signatures),
    }
