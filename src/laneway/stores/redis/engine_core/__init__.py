"""engine-core's layout: an account's lane in the keys that its operators know (seed 002 §2.1).

The rows of the lane stay the truth, in cells of their own; these keys are drawn from them. They
can also be read, to take over an account that engine-core ran.
"""

from laneway.core.ids import LaneId
from laneway.core.rows import Rows
from laneway.stores.redis.engine_core.keys import AccountKeys, account_of
from laneway.stores.redis.engine_core.view import EngineCoreView
from laneway.stores.redis.rows.keys import Names

__all__ = ["EngineCore"]


class EngineCore:
    """The layout of accounts' lanes."""

    def keys(self, names: Names, lane: LaneId) -> AccountKeys | None:
        return account_of(names, lane)

    def view(self, names: Names, rows: Rows) -> EngineCoreView:
        account = account_of(names, rows.head.lane)
        assert account is not None
        return EngineCoreView(account, rows)
