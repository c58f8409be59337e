"""ZIP-215 by its definition alone, slowly: what `verifies` is measured against."""

from laneway.jam.ed25519 import _holds_times_eight, _is_well_formed


def zip215_verifies(public_key: bytes, signature: bytes, message: bytes) -> bool:
    is_sound = _is_well_formed(public_key, signature)
    return is_sound and _holds_times_eight(public_key, signature, message)
