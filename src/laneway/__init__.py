"""laneway gets every transaction on chain exactly once, in order, even if you crash."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.chains.contract_callable import CallableHost, InlineHost, Refuse
    from laneway.chains.contract_rest import RestHost
    from laneway.client.asynchronous import AsyncClient
    from laneway.client.blocking import Client
    from laneway.devnets.contract.model import ContractChain
    from laneway.devnets.contract.node.host import EmbeddedHost
    from laneway.lanes.contract.settings import ContractSettings
    from laneway.ports.contract import ContractCall
    from laneway.ports.cosmos import CosmosBlob
    from laneway.wiring.blocking import LanewaySync
    from laneway.wiring.embedded import Handle, Laneway, Settled
    from laneway.wiring.within import submit_within, submit_within_sync

__all__ = [
    "AsyncClient",
    "CallableHost",
    "Client",
    "ContractCall",
    "ContractChain",
    "ContractSettings",
    "CosmosBlob",
    "EmbeddedHost",
    "Handle",
    "InlineHost",
    "Laneway",
    "LanewaySync",
    "Refuse",
    "RestHost",
    "Settled",
    "submit_within",
    "submit_within_sync",
]

PLACES = {
    "AsyncClient": "laneway.client.asynchronous",
    "CallableHost": "laneway.chains.contract_callable",
    "Client": "laneway.client.blocking",
    "ContractCall": "laneway.ports.contract",
    "ContractChain": "laneway.devnets.contract.model",
    "ContractSettings": "laneway.lanes.contract.settings",
    "CosmosBlob": "laneway.ports.cosmos",
    "EmbeddedHost": "laneway.devnets.contract.node.host",
    "Handle": "laneway.wiring.embedded",
    "InlineHost": "laneway.chains.contract_callable",
    "Laneway": "laneway.wiring.embedded",
    "LanewaySync": "laneway.wiring.blocking",
    "Refuse": "laneway.chains.contract_callable",
    "RestHost": "laneway.chains.contract_rest",
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
