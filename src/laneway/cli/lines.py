"""One line of a file that `laneway send` is given."""

from typing import Any

from msgspec import Struct
from msgspec.structs import fields

from laneway.core.ids import is_account, is_cosmos
from laneway.wire.cosmos import CosmosBlob, CosmosMessage
from laneway.wire.evm import EvmAccess, EvmAuthorization, EvmBlobs
from laneway.wire.values import Moment

OWN = ("lane", "data", "key", "valid_until")


class Line(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a file. The lane may stand on the command line instead."""

    data: str | None = None
    lane: str | None = None
    executor: str | None = None
    quorum_type: int | None = None
    comment: str | None = None
    key: str | None = None
    priority: int | None = None
    valid_until: Moment | None = None
    to: str | None = None
    value: str | int | None = None
    gas: int | None = None
    type: int | None = None
    max_fee_per_gas: str | int | None = None
    max_priority_fee_per_gas: str | int | None = None
    max_cost: str | int | None = None
    access_list: list[EvmAccess] | None = None
    authorization_list: list[EvmAuthorization] | None = None
    blobs: EvmBlobs | list[CosmosBlob] | None = None
    amount: str | int | None = None
    denom: str | None = None
    messages: list[CosmosMessage] | None = None
    namespace: str | None = None
    memo: str | None = None
    fee: int | None = None
    gas_price: str | None = None
    fee_granter: str | None = None
    timeout_height: int | None = None

    def options(self) -> dict[str, Any]:
        """What is given beside the line's own: a contract's words, or an account's."""
        named = [field.name for field in fields(self) if field.name not in OWN]
        return {name: said for name in named if (said := getattr(self, name)) is not None}

    def is_empty(self) -> bool:
        """Whether it says nothing that could be done."""
        if self.lane is not None and is_account(self.lane):
            return self.to is None and self.data is None
        if self.lane is not None and is_cosmos(self.lane):
            return self.data is None and not (self.to or self.blobs or self.messages)
        return self.data is None
