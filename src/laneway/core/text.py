"""Foreign text as it may be printed: without characters that command a terminal."""


def printable(text: str, *, keep: str = "") -> str:
    """The text with each control, format or otherwise invisible character written as an escape
    (`\\x1b`), besides the characters of `keep`. Foreign text can then neither move the cursor nor
    begin a line of its own."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char in keep
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text
    )


def printable_json(text: str) -> str:
    """JSON with each invisible character written as `\\uXXXX`: an encoder escapes only those below
    a blank, and a terminal obeys some of the others too. The value stays the same."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else _escaped(char.encode("utf-16-be"))
        for char in text
    )


def _escaped(units: bytes) -> str:
    return "".join(f"\\u{int.from_bytes(units[at : at + 2]):04x}" for at in range(0, len(units), 2))
