"""A secret that must be seen nowhere: everything a test run says or writes is searched for it.

    witness = Witness(SECRET)
    with witness.logs():
        …
    witness.hears("stdout", text)
    witness.reads(folder, besides=[the_file_it_was_given_in])
    witness.is_content()

Any test may use it on stores, responses and errors of its own.
"""

import base64
import logging
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

from laneway.wiring.logs import FOREIGN, OURS

SECRET = bytes.fromhex("c0ffee5ec4e7d15c0de9a11acafe1e57b0a710adbabe5eed0ddba11f00dfaceb")
"""A key of the curve that reads as no other bytes of a test could."""

PASSWORD = b"canary-bird-3f9c1e77-never-sings-b2d40a68"


def writings(secret: bytes) -> dict[str, bytes]:
    """Every way that we know of in which bytes are written down."""
    half = len(secret) // 2
    number = int.from_bytes(secret, "big")
    found = {
        "raw": secret,
        "first half": secret[:half],
        "second half": secret[half:],
        "decimal": str(number).encode(),
        "little-endian": secret[::-1],
        "python": repr(secret)[2:-1].encode(),
        "list": ", ".join(map(str, secret)).encode(),
        "compact list": ",".join(map(str, secret)).encode(),
    }
    for shift in range(3):
        # Inside of something larger, base64 has one of three forms; its edges mix with others.
        padded = bytes(shift) + secret
        for name, encode in (("base64", base64.b64encode), ("url", base64.urlsafe_b64encode)):
            whole = encode(padded).rstrip(b"=")
            found[f"{name} {shift}"] = whole[(0, 2, 3)[shift] : -2]
    return found


def hex_writings(secret: bytes) -> dict[str, bytes]:
    """In small letters; 0x before it changes nothing. Half of a key is a leak too."""
    half = len(secret) // 2
    return {
        "first half in hex": secret[:half].hex().encode(),
        "second half in hex": secret[half:].hex().encode(),
        "spaced hex": secret.hex(" ").encode(),
        "hex with colons": secret.hex(":").encode(),
    }


def sightings(secret: bytes, content: bytes) -> list[str]:
    lowered = content.lower()
    seen = [name for name, form in writings(secret).items() if form in content]
    return seen + [name for name, form in hex_writings(secret).items() if form in lowered]


def words_of(error: BaseException) -> str:
    """All that an error could say, and those it came from, hidden ones included."""
    said: list[str] = []
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        said += traceback.format_exception(one, chain=False)
        said += [str(one), repr(one), repr(one.args), repr(vars(one))]
        waiting += [one.__cause__, one.__context__]
    return "\n".join(said)


def own_loggers() -> list[logging.Logger]:
    return [logging.getLogger(name) for name in (OURS, *FOREIGN)]


class Witness:
    """Hears everything, and remembers where it met one of the secrets."""

    def __init__(self, *secrets: bytes) -> None:
        self._secrets = secrets
        self.seen: list[str] = []
        self.heard_count = 0

    def hears(self, where: str, content: str | bytes | object) -> None:
        if isinstance(content, BaseException):
            content = words_of(content)
        elif not isinstance(content, str | bytes):
            content = f"{content!r}\n{content}"
        if isinstance(content, str):
            content = content.encode(errors="surrogateescape")
        self.heard_count += 1
        for secret in self._secrets:
            self.seen += [f"{where}: {form}" for form in sightings(secret, content)]

    def reads(self, folder: Path, besides: Iterable[Path] = ()) -> None:
        """Every file below, its name included."""
        spared = {path.resolve() for path in besides}
        for path in sorted(folder.rglob("*")):
            self.hears(f"the name {path}", str(path))
            if path.is_file() and path.resolve() not in spared:
                self.hears(str(path), path.read_bytes())

    @contextmanager
    def logs(self) -> Iterator[None]:
        """Hear every line of every logger, with the errors it carries, at any level."""
        written = StringIO()
        ear = logging.StreamHandler(written)
        root = logging.getLogger()
        # What a server set up in this process has handlers of its own.
        before = [(one, one.level, one.propagate) for one in (root, *own_loggers())]
        root.addHandler(ear)
        for logger, _, _ in before:
            logger.setLevel(logging.DEBUG)
            logger.propagate = True
        try:
            yield
        finally:
            root.removeHandler(ear)
            for logger, level, propagated in before:
                logger.setLevel(level)
                logger.propagate = propagated
            self.hears("logs", written.getvalue())

    def is_content(self) -> None:
        assert self.heard_count, "nothing was heard, so nothing is proven"
        assert not self.seen, "\n".join(self.seen)
