"""Foreign text as it may be printed: without characters that command a terminal."""


def printable(text: str, *, keep: str = "") -> str:
    """The text with each control, format or otherwise invisible character written as an escape
    (`\\x1b`), besides the characters of `keep`. Whatever a node, a caller or a receiver said can
    then neither move the cursor nor begin a line of its own."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char in keep
        else char.encode("unicode_escape", "surrogatepass").decode("ascii")
        for char in text
    )
