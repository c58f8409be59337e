"""Numbers from outside in plain decimal, as JSON or as text, each within a bound."""

from laneway.wire.limits import NUMBER_MAX


def read_digits(text: str, most: int = NUMBER_MAX) -> int:
    """A number up to `most`; ValueError on anything but the digits 0 to 9, and above it."""
    # Other scripts have digits too, which Python would read; and it refuses 5,000 of them.
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"{text[:80]!r} is not a number")
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(most)) or int(digits) > most:
        raise ValueError(f"{text[:80]!r} is more than {most}")
    return int(digits)


def read_whole(value: object, most: int = NUMBER_MAX, least: int = 0) -> int:
    """A JSON number that is whole and from `least` to `most`; ValueError on any other value."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{str(value)[:80]} is not a number from {least} to {most}")
    return value
