"""A store's address that cannot be used is named without its password."""

import pytest

from laneway.core.errors import StoreRefused
from laneway.engine.system import SystemClock
from laneway.wiring.store import open_store

SECRET = "hidden-key-7"


@pytest.mark.parametrize(
    "address",
    [
        f"redis://:{SECRET}/x@cache:6379/0",
        f"redis://:{SECRET}@cache:port/0",
        f"redis://cache:{SECRET}/0",
        f"postgresql://me:{SECRET}/x@db:port/laneway",
        f"postgresql://me:{SECRET}%zz@db/laneway",
        f"postgresql://db/laneway?password={SECRET}&port",
        f"mysql://me:{SECRET}@db/laneway",
    ],
)
def test_an_address_that_is_refused_shows_no_password(address: str) -> None:
    with pytest.raises(StoreRefused) as caught:
        open_store(address, SystemClock())
    error = caught.value
    assert SECRET not in f"{error} {error!r} {vars(error)} {error.__cause__}"
    assert error.__suppress_context__ or error.__context__ is None
