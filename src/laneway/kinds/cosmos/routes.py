"""REST routes of Cosmos accounts: the command about their sequences."""

from aiohttp import web

from laneway.server.call import Call
from laneway.server.lanes import operated, verb_route
from laneway.wire.values import SequenceOrder


async def set_sequence(call: Call) -> web.Response:
    """Set where a Cosmos account's sequences go on, never at one that is used or may be.

    A dry run shows the numbers before and after, and why it would become no other.
    """
    order = await call.body(SequenceOrder)
    return await operated(call, "set-sequence", order, order.sequence)


ROUTES = (
    verb_route("set-sequence", set_sequence, "Set a Cosmos account's next sequence", SequenceOrder),
)
