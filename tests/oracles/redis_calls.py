"""What a call of the commit script says, taken apart as the script does. Pure."""

from msgspec import Struct

from laneway.stores.redis.layout import Word


def spoken(word: Word) -> bytes:
    """A word as it goes over the wire."""
    return word if isinstance(word, bytes) else str(word).encode()


class Written(Struct):
    """One commit as its call tells it."""

    own: list[str]
    head: list[bytes]
    changes: list[list[bytes]]
    owner: bytes = b""
    """The owner of a lane that has a layout; empty for any other."""
    lock: str = ""
    says: list[tuple[str, bytes, list[bytes]]] | None = None
    """What it changes in its layout's keys; None if it must not be written."""


def read_commits(keys: list[str], args: list[bytes]) -> list[Written]:
    found: list[Written] = []
    at, base = 3, 7
    for _ in range(int(args[2])):
        head = args[at : at + 16]
        changes, says = at + 16, at + 16 + int(head[12])
        at = says + int(head[15])
        one = Written(keys[base : base + 4], head, read_changes(args[changes:says]), head[13])
        base += 4
        if one.owner:
            count = int(head[14])
            one.lock = keys[base]
            last = base + 1 + max(count, 0)
            one.says = None if count < 0 else read_says(keys[base + 1 : last], args[says:at])
            base = last
        found.append(one)
    return found


def read_changes(args: list[bytes]) -> list[list[bytes]]:
    """Sign, key, member and value of each cell."""
    found: list[list[bytes]] = []
    at = 0
    while at < len(args):
        sign, key, count = args[at], args[at + 1], int(args[at + 2])
        members = args[at + 3 : at + 3 + count]
        at += 3 + count
        values = [b""] * count
        if sign in (b"+row", b"+hash", b"!hash", b"+zset"):
            values = args[at : at + count]
            at += count
        found += [[sign, key, *pair] for pair in zip(members, values, strict=True)]
    return found


def read_says(keys: list[str], args: list[bytes]) -> list[tuple[str, bytes, list[bytes]]]:
    """Of each key in turn its command and words."""
    found: list[tuple[str, bytes, list[bytes]]] = []
    at = 0
    while at < len(args):
        command, count, common, own = args[at], *map(int, args[at + 1 : at + 4])
        first = at + 4 + common
        same, at = args[at + 4 : first], first + count * own
        named = keys[len(found) : len(found) + count]
        for i, key in enumerate(named):
            found.append((key, command, same + args[first + i * own : first + (i + 1) * own]))
    return found
