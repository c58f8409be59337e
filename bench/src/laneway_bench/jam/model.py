"""How many timeslots a second the chain model of the JAM devnet makes: 6 validators, 2 cores.

Once with empty blocks, and once with a package on each core in every block: refined by three
guarantors, signed, erasure coded, assured by all, accumulated by a service that does nothing.
"""

import time
from typing import Any

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import NULL_AUTHORIZER, ModelSetup, ServiceSetup
from laneway.jam.package import WORK_PACKAGE, WorkItem, WorkPackage
from laneway.jam.report import Ok
from laneway.jam.service.interface import (
    Accumulation,
    Operand,
    RefineInput,
    RefineOutput,
    StorageView,
)
from laneway.jam.spec import TINY
from laneway_bench.contestant import answer_all

GOAL = "model_slots_per_s_6_validators"
SERVICE = 1_729
PAYLOAD_BYTES = 4_096
"""What a small rollup block comes to."""
SLOTS_BEFORE = 12
"""An epoch that is not timed."""


class Echo:
    """A service that hands its payload on and keeps nothing."""

    code_hash = bytes(31) + b"e"

    def refine(self, asked: RefineInput) -> RefineOutput:
        return RefineOutput(result=Ok(asked.payload[:32]), exports=(), gas_used=1)

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int
    ) -> Accumulation:
        del view, operands, slot
        return Accumulation(writes=(), yield_hash=None, gas_used=1)


def measure(slots: int) -> dict[str, Any]:
    rates = {
        "empty_blocks": rate(slots, packages=False),
        "two_packages_a_block": rate(slots, packages=True),
    }
    return {"slots": slots, "slots_per_s": rates, GOAL: rates["two_packages_a_block"]}


def rate(slots: int, *, packages: bool) -> float:
    model = JamModel(ModelSetup(services={SERVICE: ServiceSetup(service=Echo())}))
    accumulated = 0
    begun_s = 0.0
    for slot in range(1, 1 + SLOTS_BEFORE + slots):
        if slot == 1 + SLOTS_BEFORE:
            accumulated, begun_s = 0, time.perf_counter()
        if packages:
            for core in range(TINY.core_count):
                refusal = model.submit(0, core, package(model, slot, core), ())
                assert refusal is None, refusal
        accumulated += len(model.step(slot).accumulated)
    spent_s = time.perf_counter() - begun_s
    if packages:
        # A lost package would make the model look quick.
        assert accumulated == slots * TINY.core_count, accumulated
    return slots / spent_s


def package(model: JamModel, slot: int, core: int) -> bytes:
    item = WorkItem(
        service=SERVICE,
        code_hash=Echo.code_hash,
        payload=(b"%d %d " % (slot, core)).ljust(PAYLOAD_BYTES, b"."),
        refine_gas_limit=1_000,
        accumulate_gas_limit=1_000,
        import_segments=(),
        extrinsic=(),
        export_count=0,
    )
    return WORK_PACKAGE.encode(
        WorkPackage(
            auth_code_host=0,
            auth_code_hash=NULL_AUTHORIZER,
            context=model.refine_context(0),
            authorization=b"",
            authorizer_config=b"",
            items=(item,),
        )
    )


def main() -> None:
    answer_all(lambda question: measure(**question))


if __name__ == "__main__":
    main()
