"""The server's words → our errors. Unknown words are a refusal: a person must look."""

from laneway.core.errors import StoreBusy, StoreError, StoreFull, StoreRefused

PASSING = {
    "LOADING": "the server reads its data from disk",
    "READONLY": "the server is a replica now and takes no writes",
    "MASTERDOWN": "the server is a replica that lost its master",
    "CLUSTERDOWN": "a part of the Cluster is down",
    "TRYAGAIN": "a slot is moving to another server",
    "ASK": "a slot is moving to another server",
    "BUSY": "the server runs somebody's long script",
    "NOREPLICAS": "too few replicas are attached (min-replicas-to-write)",
    "UNBLOCKED": "the server became a replica meanwhile",
}
FULL = {
    "OOM": "maxmemory is reached; raise it or let retention remove more",
}


def translated(address: str, told: str) -> StoreError:
    """What an error reply means. None of these changed anything."""
    word = told.partition(" ")[0].rstrip(":")
    if word in FULL:
        return StoreFull(address, FULL[word])
    if word == "MISCONF":
        # Redis stops taking writes when it can no longer save; it goes on when it can again.
        if "space" in told:
            return StoreFull(address, f"its disk is full: {told}")
        return StoreBusy(f"{address} cannot save what it is told: {told}")
    if word in PASSING:
        return StoreBusy(f"{address}: {PASSING[word]}")
    return StoreRefused(address, f"the server refused: {told}")
