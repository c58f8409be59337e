"""A tiny chain with an echo for a service, and packages for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import (
    NULL_AUTHORIZER,
    Descriptor,
    ModelSetup,
    ServiceSetup,
    StepReport,
)
from laneway.jam.hashing import blake2b, keccak
from laneway.jam.package import (
    WORK_PACKAGE,
    ExtrinsicSpec,
    ImportSpec,
    WorkItem,
    WorkPackage,
    package_hash,
)
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.interface import (
    Accumulation,
    Operand,
    RefineInput,
    RefineOutput,
    StorageView,
)
from laneway.jam.spec import SEGMENT_BYTES

ECHO = 7
"""The service's id."""
PANIC = b"panic"
"""A payload that the service cannot refine."""


class Echo:
    """It says what it is told, exports as many segments as its payload's first byte says, keeps
    the last output under "last", counts what it accumulated under "count", and yields a hash."""

    def __init__(self) -> None:
        self.code_hash = blake2b(b"the echo service")
        self.refined: list[RefineInput] = []
        """All calls, to see who refined what."""

    def refine(self, given: RefineInput, /) -> RefineOutput:
        self.refined.append(given)
        if given.payload == PANIC:
            return RefineOutput(result=WorkError.PANIC, gas_used=1)
        said = b"".join((given.payload, *given.extrinsics, *(one[:4] for one in given.imports)))
        count = given.payload[0] if given.payload else 0
        exports = tuple(
            bytes([place]).ljust(SEGMENT_BYTES, given.payload[-1:]) for place in range(count)
        )
        return RefineOutput(result=Ok(said), exports=exports, gas_used=len(said))

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int, /
    ) -> Accumulation:
        count = int.from_bytes(view.read(b"count") or b"", "little") + len(operands)
        outcome = operands[-1].result
        said = outcome.output if isinstance(outcome, Ok) else None
        hashes = b"".join(operand.package_hash for operand in operands)
        return Accumulation(
            writes=((b"count", count.to_bytes(4, "little")), (b"last", said)),
            yield_hash=keccak(hashes + slot.to_bytes(4, "little")) if said else None,
            gas_used=100,
        )


def setup(**fields: Any) -> ModelSetup:
    services: Mapping[int, ServiceSetup] = fields.pop(
        "services", {ECHO: ServiceSetup(service=Echo())}
    )
    return ModelSetup(services=services, **fields)


def chain(slots: int = 3, **fields: Any) -> JamModel:
    """A model that has made so many steps."""
    model = JamModel(setup(**fields))
    run(model, slots)
    return model


def run(model: JamModel, slots: int = 1) -> StepReport:
    """So many steps; what the last one said."""
    done = StepReport(slot=model.slot)
    for _ in range(slots):
        done = model.step(model.slot + 1)
    return done


def best(model: JamModel, node: int = 0) -> bytes:
    return model.best(node).header_hash


def work_package(
    model: JamModel,
    payload: bytes = b"",
    *,
    node: int = 0,
    needs: Sequence[bytes] = (),
    extrinsics: Sequence[bytes] = (),
    imports: Sequence[ImportSpec] = (),
    exports: int = 0,
    **context: Any,
) -> WorkPackage:
    """Anchored at the best block's parent unless told otherwise."""
    return WorkPackage(
        auth_code_host=0,
        auth_code_hash=NULL_AUTHORIZER,
        context=replace(model.refine_context(node, needs), **context),
        items=(
            WorkItem(
                service=ECHO,
                code_hash=Echo().code_hash,
                refine_gas_limit=1_000_000,
                accumulate_gas_limit=10_000,
                export_count=exports,
                payload=payload,
                import_segments=tuple(imports),
                extrinsic=tuple(ExtrinsicSpec(blake2b(one), len(one)) for one in extrinsics),
            ),
        ),
    )


def at_head(model: JamModel, node: int = 0) -> dict[str, Any]:
    """The fields of a context that is anchored at the best block itself."""
    return at_block(model, best(model, node), node)


def at_block(model: JamModel, block: bytes, node: int = 0) -> dict[str, Any]:
    return {
        "anchor": block,
        "state_root": model.state_root(node, block),
        "beefy_root": model.beefy_root(node, block),
    }


def submit(
    model: JamModel, package: WorkPackage, core: int = 0, extrinsics: Sequence[bytes] = ()
) -> bytes:
    """Hand a package in; its hash."""
    assert model.submit(0, core, WORK_PACKAGE.encode(package), extrinsics) is None
    return package_hash(package)


def send(model: JamModel, payload: bytes = b"", core: int = 0, **fields: Any) -> bytes:
    """A package that is anchored at the head, handed in."""
    made = work_package(model, payload, **{**at_head(model), **fields})
    return submit(model, made, core)


def packages(done: StepReport) -> list[bytes]:
    return [one.package_hash for one in done.reported]


def made(done: StepReport) -> Descriptor:
    assert done.made is not None
    return done.made


def produce(
    model: JamModel,
    count: int = 1,
    *,
    guarantees: bool = True,
    unassured_cores: Sequence[int] = (),
    **wishes: Any,
) -> StepReport:
    """N blocks, each in the slot after the best block's, without votes. Without guarantees they
    report nothing; reports of unassured cores do not become available."""
    faults, done = model.faults, StepReport(slot=model.slot)
    withheld, unavailable = faults.withheld_cores, faults.unavailable_cores
    if not guarantees:
        faults.withheld_cores = set(range(model.spec.core_count))
    faults.unavailable_cores = {*unavailable, *unassured_cores}
    for _ in range(count):
        slot = wishes.get("slot", model.best(0).slot + 1)
        done = model.produce(slot, **{key: wishes[key] for key in wishes if key != "slot"})
    faults.withheld_cores, faults.unavailable_cores = withheld, unavailable
    return done
