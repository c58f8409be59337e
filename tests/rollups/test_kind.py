"""What a kind of rollup answers that has none of it."""

from typing import Any

import pytest
from tests.rollups.log_kind import LogKind, LogService

from laneway.core.errors import BadRequest
from laneway.rollups.domain import Domain
from laneway.rollups.kind import KindOfRollup, Option

DOMAIN = Domain(bytes(32), 1)


class BareKind(KindOfRollup[Any, Any]):
    name = "bare"


def test_a_kind_that_answers_nothing_cannot_run() -> None:
    kind = BareKind()
    for ask in (
        lambda: kind.rules(DOMAIN),
        lambda: kind.service(bytes(32)),
        lambda: kind.code_hash(bytes(32)),
        kind.dev_storage,
    ):
        with pytest.raises(NotImplementedError):
            ask()


def test_a_kind_without_accounts_and_options_takes_signed_transactions_alone() -> None:
    kind = BareKind()
    assert (kind.dev_accounts(), kind.sender({}), kind.options) == ((), None, ())
    with pytest.raises(BadRequest, match="a bare has no accounts"):
        kind.account_id("dev:0")
    with pytest.raises(BadRequest, match="a bare takes signed transactions alone"):
        kind.transaction(DOMAIN, {}, 0)


def test_the_code_is_that_of_the_kinds_service() -> None:
    assert LogKind().code_hash(b"c" * 32) == LogService(b"c" * 32).code_hash


def test_an_option_is_named_by_its_flag() -> None:
    assert Option(flag="--gas-limit", reads="count", help="Gas.").name() == "gas_limit"
