"""REST routes of EVM accounts: commands about their transactions and their nonces."""

from aiohttp import web

from laneway.server.call import Call
from laneway.server.lanes import operated, verb_route
from laneway.server.transactions import command_route, commanded
from laneway.wire.values import Order, ReplaceOrder


async def bump(call: Call) -> web.Response:
    """Offer more for an EVM account's transaction, at the same nonce.

    At least 1.125 of what the last attempt offered, and 1.2 of what the chain asks now.
    """
    return await commanded(call, "bump", await call.body(Order))


async def replace(call: Call) -> web.Response:
    """Put other content in the place of an EVM account's transaction, at the same nonce.

    What was sent before may still be mined instead: whichever is decides, and `reason` says which.
    One that has no nonce yet is sent with the new content alone.
    """
    order = await call.body(ReplaceOrder)
    return await commanded(call, "replace", order, order.payload)


async def reset_nonce(call: Call) -> web.Response:
    """Set an account's next nonce back to what the chain says, never below one that is bound.

    A dry run shows the numbers before and after, and why it would not become lower.
    """
    return await operated(call, "reset-nonce", await call.body(Order))


ROUTES = (
    command_route("bump", bump, "Offer more for an account's transaction", Order),
    command_route(
        "replace",
        replace,
        "Put other content in the place of an account's transaction",
        ReplaceOrder,
    ),
    verb_route("reset-nonce", reset_nonce, "Reset an EVM account's next nonce", Order),
)
