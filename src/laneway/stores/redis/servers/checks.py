"""What a server must be like before anything is trusted to it."""

from laneway.core.errors import StoreBusy, StoreRefused

VERSION_MIN = (7, 0)
"""Streams that number themselves (`XADD key 0-*`), and scripts that are replicated by effect."""

SETTINGS = ("appendonly", "appendfsync", "no-appendfsync-on-rewrite", "maxmemory-policy")


def check_version(address: str, version_text: str) -> None:
    version = tuple(int(part) for part in version_text.split(".")[:2])
    if version < VERSION_MIN:
        raise StoreRefused(address, f"Redis {version_text} is too old; 7.0 or newer is needed")


def check_role(address: str, role: str) -> None:
    if role != "master":
        # It may be promoted any moment; until then it takes no writes.
        raise StoreBusy(f"{address} is a replica and takes no writes")


def weaknesses(settings: dict[str, str]) -> list[str]:
    """Advice for each setting that would let a power cut take back what was answered."""
    found = []
    if settings.get("appendonly") != "yes":
        found.append("set 'appendonly yes'")
    if settings.get("appendfsync") != "always":
        found.append("set 'appendfsync always'")
    if settings.get("no-appendfsync-on-rewrite") == "yes":
        found.append("set 'no-appendfsync-on-rewrite no'")
    return found


def check_settings(address: str, settings: dict[str, str], *, relaxed: bool) -> bool:
    """Whether all that is answered survives a power cut; a server that forgets is refused."""
    policy = settings.get("maxmemory-policy")
    if policy is not None and policy != "noeviction":
        raise StoreRefused(
            address,
            f"maxmemory-policy is {policy}, so that it may forget an intent when memory runs out; "
            "set 'maxmemory-policy noeviction'",
        )
    weak = weaknesses(settings)
    if weak and not relaxed:
        raise StoreRefused(
            address,
            f"a power cut could take back what was answered; {', '.join(weak)}, or accept the "
            "risk with durability = 'relaxed'",
        )
    return not weak


def check_layout(address: str, *, wanted: str, found: str) -> None:
    if wanted != found:
        raise StoreRefused(
            address, f"it holds a store in the form '{found}', and this is '{wanted}'"
        )


def check_born(address: str, *, known: str, found: str) -> None:
    """A server that came back without its data must not be taken for an empty store."""
    if known and known != found:
        raise StoreRefused(
            address,
            "its data was lost or replaced since we last spoke to it; restore it, or start again",
        )


def replicas_wanted(configured: int | None, attached: int) -> int:
    """How many replicas must have a write before it is answered.

    Whichever of them is promoted must know the highest fence, so by default it is all of them.
    """
    return attached if configured is None else configured
