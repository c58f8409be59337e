"""The server's routes: those of all lanes, and those of every kind."""

from laneway.kinds.registry import kinds
from laneway.server.app import Site

SITE = Site(
    [kind.new for kind in kinds().values() if kind.new is not None],
    [route for kind in kinds().values() for route in kind.routes()],
)
ROUTES = SITE.routes
DOCUMENT = SITE.document
