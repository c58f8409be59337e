"""The Idempotency-Key header: an RFC 8941 string, or the bare word that most clients send."""

from collections.abc import Mapping

from laneway.core.errors import BadRequest
from laneway.core.ids import idempotency_key

HEADER = "Idempotency-Key"
OTHER_HEADER = "x-idempotency-key"
REPLAYED = "Idempotent-Replayed"


class KeysDisagree(BadRequest):
    code = "idempotency_keys_disagree"

    def __init__(self) -> None:
        super().__init__(HEADER, f"{HEADER} and {OTHER_HEADER} disagree")


def key_of(headers: Mapping[str, str]) -> str | None:
    """The caller's key, if there is one. Two different ones are a mistake, not a choice."""
    found = [headers[name] for name in (HEADER, OTHER_HEADER) if name in headers]
    if not found:
        return None
    keys = [parse_key(text) for text in found]
    if keys[0] != keys[-1]:
        raise KeysDisagree
    return keys[0]


def parse_key(text: str) -> str:
    text = text.strip(" \t")
    try:
        return idempotency_key(unquoted(text) if text.startswith('"') else text)
    except BadRequest as error:
        raise BadRequest(HEADER, error.problem) from None


def quoted(key: str) -> str:
    """A key as the header has it; `parse_key` gives it back whatever it holds."""
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def unquoted(text: str) -> str:
    """RFC 8941 §3.3.3: between quotes, with a backslash before a quote or a backslash only."""
    if len(text) < 2 or not text.endswith('"'):
        raise BadRequest(HEADER, "a quoted string that does not end")
    key: list[str] = []
    rest = iter(text[1:-1])
    for char in rest:
        if char == '"':
            raise BadRequest(HEADER, "a quote inside a quoted string")
        if char == "\\":
            char = next(rest, "")
            if char not in ('"', "\\"):
                raise BadRequest(HEADER, "a backslash stands only before a quote or a backslash")
        key.append(char)
    return "".join(key)
