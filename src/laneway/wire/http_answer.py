"""The answer to one post, as it arrives (RFC 9112). Nothing here waits or sends."""

from laneway.wire.limits import HEAD_BYTES_MAX, RPC_ANSWER_BYTES_MAX
from laneway.wire.numbers import read_digits

END = b"\r\n"
HEAD_END = END + END
BODILESS = (204, 304)
HEX = b"0123456789abcdefABCDEF"


class BadAnswer(Exception):
    """What came is no answer in HTTP, or too large."""


class HttpAnswer:
    """Fed until it is whole."""

    def __init__(self) -> None:
        self.status = 0
        """0: its head is not here yet."""
        self.headers: dict[bytes, bytes] = {}
        self.content = b""
        self.is_whole = False
        self._is_1_1 = True
        self._left: int | None = None
        """Bytes of the content that are known to come; None: until the end, or in chunks."""
        self._is_chunked = False
        self._buffer = bytearray()
        self._chunks = bytearray()

    def keeps_alive(self) -> bool:
        """Whether the connection can be used again."""
        value = self.headers.get(b"connection", b"").lower()
        is_kept = b"close" not in value if self._is_1_1 else b"keep-alive" in value
        return self.is_whole and is_kept and not self._buffer

    def header(self, name: bytes) -> str | None:
        found = self.headers.get(name)
        return None if found is None else found.decode("latin-1")

    def feed(self, some: bytes) -> None:
        self._buffer += some
        if self.is_whole:
            return  # It is no part of it, and nobody asked for it.
        while not self.status:
            end = self._buffer.find(HEAD_END)
            if max(end, 0) > HEAD_BYTES_MAX or (end < 0 and len(self._buffer) > HEAD_BYTES_MAX):
                raise BadAnswer(f"its head has more than {HEAD_BYTES_MAX} bytes")
            if end < 0:
                return
            head = bytes(self._buffer[:end])
            del self._buffer[: end + len(HEAD_END)]
            self._read_head(head)
        if self._is_chunked:
            self._read_chunks()
        elif self._left is None:
            self._check(len(self._buffer))
        elif len(self._buffer) >= self._left:
            self.content = bytes(self._buffer[: self._left])
            del self._buffer[: self._left]
            self.is_whole = True

    def end(self) -> None:
        """Nothing more comes."""
        if self.status and not self._is_chunked and self._left is None:
            self.content = bytes(self._buffer)
            self.is_whole = True

    def _read_head(self, head: bytes) -> None:
        first, *lines = head.split(END)
        version, _, rest = first.partition(b" ")
        code = rest[:3]
        if version not in (b"HTTP/1.1", b"HTTP/1.0") or not code.isdigit():
            raise BadAnswer("it begins with no status")
        status = int(code)
        if 100 <= status < 200:
            return  # The real one follows.
        for line in lines:
            name, _, value = line.partition(b":")
            self.headers[name.lower()] = value.strip()
        self.status, self._is_1_1 = status, version == b"HTTP/1.1"
        self._is_chunked = b"chunked" in self.headers.get(b"transfer-encoding", b"").lower()
        length = self.headers.get(b"content-length")
        if status in BODILESS:
            self._left = 0
        elif length is not None and not self._is_chunked:
            try:
                self._left = read_digits(length.decode("latin-1"), RPC_ANSWER_BYTES_MAX)
            except ValueError as error:
                raise BadAnswer(f"its length: {error}") from error

    def _read_chunks(self) -> None:
        """The last chunk is empty, and lines may follow it."""
        while True:
            line, found, _ = self._buffer.partition(END)
            if not found:
                return self._check(len(self._buffer))
            digits = line.partition(b";")[0].strip()
            if not digits or digits.strip(HEX):
                raise BadAnswer("a chunk's size is no number")
            size = int(digits, 16)
            begin = len(line) + len(END)
            if size == 0:
                return self._read_trailer(begin)
            self._check(len(self._chunks) + size)
            if len(self._buffer) < begin + size + len(END):
                return None
            self._chunks += self._buffer[begin : begin + size]
            del self._buffer[: begin + size + len(END)]

    def _read_trailer(self, begin: int) -> None:
        at = self._buffer.find(HEAD_END, begin - len(END))
        if at >= 0:
            del self._buffer[: at + len(HEAD_END)]
            self.content = bytes(self._chunks)
            self.is_whole = True

    def _check(self, size: int) -> None:
        if size > RPC_ANSWER_BYTES_MAX:
            raise BadAnswer(f"more than {RPC_ANSWER_BYTES_MAX} bytes")
