"""What a node's pool holds (`txpool_*`)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from laneway.devnets.evm.model.pool import PooledTransaction
from laneway.devnets.evm.node.parameters import address_of
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.views import waiting_of
from laneway.evm.transaction import fee_wei_max
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_server.methods import Json, Method


def pool_status(caller: EvmCaller) -> Json:
    pending, queued = caller.chain.pool(caller.node)
    return {"pending": quantity(len(pending)), "queued": quantity(len(queued))}


def pool_content(caller: EvmCaller) -> Json:
    pending, queued = caller.chain.pool(caller.node)
    return {"pending": by_sender(pending, waiting_of), "queued": by_sender(queued, waiting_of)}


def pool_content_from(caller: EvmCaller, sender: bytes) -> Json:
    pending, queued = caller.chain.pool(caller.node)
    return {"pending": of_sender(pending, sender), "queued": of_sender(queued, sender)}


def pool_inspect(caller: EvmCaller) -> Json:
    pending, queued = caller.chain.pool(caller.node)
    return {"pending": by_sender(pending, summary), "queued": by_sender(queued, summary)}


def by_sender(
    held: Iterable[PooledTransaction], show: Callable[[PooledTransaction], object]
) -> Json:
    """By sender, and then by nonce in decimal digits."""
    found: Json = {}
    for sent in held:
        nonces = found.setdefault(octets(sent.sender), {})
        nonces[str(sent.transaction.nonce)] = show(sent)
    return found


def of_sender(held: Iterable[PooledTransaction], sender: bytes) -> Json:
    return {str(sent.transaction.nonce): waiting_of(sent) for sent in held if sent.sender == sender}


def summary(sent: PooledTransaction) -> str:
    """A line of geth's, in wei and gas."""
    made = sent.transaction
    to = "contract creation" if made.to is None else octets(made.to)
    return f"{to}: {made.value_wei} wei + {made.gas_limit} gas × {fee_wei_max(made)} wei"


POOLS: Final[Mapping[str, Method]] = {
    "txpool_status": Method((), pool_status),
    "txpool_content": Method((), pool_content),
    "txpool_contentFrom": Method((address_of,), pool_content_from),
    "txpool_inspect": Method((), pool_inspect),
}
