"""laneway gets every transaction on chain exactly once, in order, even if you crash."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.chains.contract_callable import CallableHost, InlineHost
    from laneway.client.asynchronous import AsyncClient
    from laneway.client.blocking import Client
    from laneway.lanes.contract.settings import ContractSettings
    from laneway.wiring.blocking import LanewaySync
    from laneway.wiring.embedded import Handle, Laneway, Settled
    from laneway.wiring.within import submit_within, submit_within_sync

__all__ = [
    "AsyncClient",
    "CallableHost",
    "Client",
    "ContractSettings",
    "Handle",
    "InlineHost",
    "Laneway",
    "LanewaySync",
    "Settled",
    "submit_within",
    "submit_within_sync",
]

PLACES = {
    "AsyncClient": "laneway.client.asynchronous",
    "CallableHost": "laneway.chains.contract_callable",
    "Client": "laneway.client.blocking",
    "ContractSettings": "laneway.lanes.contract.settings",
    "Handle": "laneway.wiring.embedded",
    "InlineHost": "laneway.chains.contract_callable",
    "Laneway": "laneway.wiring.embedded",
    "LanewaySync": "laneway.wiring.blocking",
    "Settled": "laneway.wiring.embedded",
    "submit_within": "laneway.wiring.within",
    "submit_within_sync": "laneway.wiring.within",
}


def __getattr__(name: str) -> object:
    """Import what is asked for and no more: listing commands start in a tenth of a second."""
    if name in PLACES:
        from importlib import import_module

        return getattr(import_module(PLACES[name]), name)
    raise AttributeError(f"module 'laneway' has no attribute {name!r}")
