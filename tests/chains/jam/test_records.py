"""Laws of a service's records: what is held is told while it can land, and as expired after it."""

import pytest
from tests.chains.jam.stage import (
    PACKAGE,
    SERVICE,
    Node,
    line,
    ref,
    run,
    served,
    waiting,
    watched,
)
from tests.rpc_stub import No

from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.limits import RECORDS_PER_CALL_MAX
from laneway.chains.jam.node import JamNode, NodeLacksBlock
from laneway.chains.jam.records import ask_some, held, numbers, refusals
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import Accumulated, ServiceRefused
from laneway.jam.codec import U64
from laneway.jam.hashing import blake2b
from laneway.jam.service.commitment import HEAD_KEY, package_key, refusal_key, rivals_key
from laneway.jam.service.limits import HELD_SLOTS_MAX
from laneway.jam.service.values import REFUSAL, NoEffectReason, ServiceRefusal
from laneway.wire.jip2 import call

OTHER = blake2b(b"other")


async def node_of(chain: Jip2Chain) -> JamNode:
    await chain.parameters()
    return chain._nodes.all[0]


def test_what_a_service_says_of_a_package_is_read() -> None:
    async def story() -> None:
        node = Node()
        refusal = ServiceRefusal(index=0, number=7, reason=NoEffectReason.WRONG_PARENT, slot=3)
        records = {package_key(PACKAGE): U64.encode(5), refusal_key(OTHER): REFUSAL.encode(refusal)}
        node.records = {"a0": records}
        async with served([node]) as (chain, _):
            asked = await node_of(chain)
            both = [watched(), watched(package_hash=OTHER)]
            assert await numbers(asked, ref("a3"), both) == {PACKAGE: Accumulated(5)}
            found = await refusals(asked, ref("a3"), both)
            assert found == {OTHER: ServiceRefused("wrong_parent", 7)}
            assert await numbers(asked, ref("a3"), []) == {}

    run(story)


def test_a_held_block_is_told_until_its_time_is_over() -> None:
    async def story() -> None:
        last = 1 + HELD_SLOTS_MAX
        node = Node(f"a0 a1 a{last - 1} a{last}")
        node.records = {"a0": line(4) | waiting(6, 1, PACKAGE, OTHER) | waiting(9, 2, bytes(32))}
        async with served([node]) as (chain, stubs):
            asked = await node_of(chain)
            early, late = ref(f"a{last - 1}"), ref(f"a{last}")
            both = {PACKAGE: Accumulated(None), OTHER: Accumulated(None)}
            assert await held(asked, early, SERVICE, 3) == both
            assert await held(asked, early, SERVICE, 4) == both | {bytes(32): Accumulated(None)}
            assert await held(asked, late, SERVICE, 4) == {
                PACKAGE: ServiceRefused("expired", 6),
                OTHER: ServiceRefused("expired", 6),
                bytes(32): Accumulated(None),
            }
            assert stubs[0].methods().count("serviceValue") == 3 + 3 + 4 + 4

    run(story)


def test_a_service_without_a_line_holds_nothing_that_could_be_read() -> None:
    async def story() -> None:
        async with served([Node()]) as (chain, stubs):
            assert await held(await node_of(chain), ref("a3"), SERVICE, 9) is None
            assert stubs[0].methods().count("serviceValue") == 1

    run(story)


@pytest.mark.parametrize("key", [HEAD_KEY, rivals_key(6)])
def test_a_record_that_is_none_is_unreadable(key: bytes) -> None:
    async def story() -> None:
        node = Node()
        node.records = {"a0": line(4) | {key: b"short"}}
        async with served([node]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await held(await node_of(chain), ref("a3"), SERVICE, 1)

    run(story)


def test_a_state_that_is_forgotten_is_an_error_of_its_own() -> None:
    async def story() -> None:
        async with served([Node(serviceValue=No(1, "Block unavailable"))]) as (chain, _):
            with pytest.raises(NodeLacksBlock):
                await held(await node_of(chain), ref("a3"), SERVICE, 1)

    run(story)


def test_any_number_of_calls_is_answered_in_its_order() -> None:
    async def story() -> None:
        node = Node(serviceValue=lambda params: params[2])
        async with served([node]) as (chain, stubs):
            keys = [bytes([place % 256, place // 256]) for place in range(600)]
            assert len(keys) > 2 * RECORDS_PER_CALL_MAX
            calls = [call("serviceValue", ref("a3").header_hash, SERVICE, key) for key in keys]
            answers = await ask_some(await node_of(chain), calls)
            assert len(set(map(str, answers))) == len(answers) == 600
            assert stubs[0].methods().count("serviceValue") == 600
            assert await ask_some(await node_of(chain), []) == []

    run(story)
