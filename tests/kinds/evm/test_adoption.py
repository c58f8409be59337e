"""What the chain says of a nonce that engine-core recycled."""

import asyncio

from tests.engine.eoa.stage import TO, Stage
from tests.engine.eoa.test_looking import DEPTH, STRANGER, claimed, three, transaction

from laneway.core.errors import ChainUnreachable
from laneway.core.facts import NonceClaim
from laneway.kinds.evm.adoption import use_of
from laneway.stores.redis.engine_core.found import Use


def asked(stage: Stage) -> Use | None:
    return asyncio.run(use_of(stage.account, 0, DEPTH))


def test_what_this_account_sent_at_a_nonce_is_shown_once_a_majority_calls_it_final() -> None:
    stage = three()
    used = transaction()
    stage.chain.claims = [NonceClaim("b", 1, b"l" * 32, b"lie"), claimed(used)]
    assert asked(stage) is None, "nobody has mined it"
    stage.chain.mine(used.hash)
    assert asked(stage) is None, "it is not final"
    stage.chain.mine(count=DEPTH)
    assert asked(stage) == Use(used.hash, TO, 0, b"")


def test_what_another_account_signed_or_no_node_tells_proves_nothing() -> None:
    stage = three()
    lie = transaction(STRANGER)
    stage.chain.mine(lie.hash)
    stage.chain.mine(count=DEPTH)
    stage.chain.claims = [claimed(lie)]
    assert asked(stage) is None
    stage.chain.trouble = ChainUnreachable("node", "away")
    assert asked(stage) is None
