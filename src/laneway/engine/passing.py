"""Which failures of the store pass by themselves."""

from laneway.core.errors import StoreBusy, StoreUnknown


def is_passing(error: BaseException) -> bool:
    """Whether the same question may be asked again: the store is busy, or did not answer.

    StoreClosed is unknown too, but it is final: a sync failed, and asking again would lie.
    """
    return isinstance(error, StoreBusy) or type(error) is StoreUnknown
