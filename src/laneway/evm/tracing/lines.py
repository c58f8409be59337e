"""Traced steps as other programs read them: objects for JSON, in the form of EIP-3155 and in that
of go-ethereum's struct logs."""

from collections.abc import Iterable, Iterator
from typing import Any

from laneway.evm.execution.receipt import EvmReceipt
from laneway.evm.tracing.steps import TracedStep

WORD_BYTES = 32


def eip3155_line(step: TracedStep) -> dict[str, Any]:
    line = {
        "pc": step.pc,
        "op": step.op,
        "gas": hex(step.gas),
        "gasCost": hex(step.cost),
        "memSize": step.memory_bytes,
        "stack": [hex(word) for word in step.stack],
        "depth": step.depth,
        "returnData": hexed(step.returned),
        "refund": hex(step.refund),
        "opName": step.name,
    }
    if step.memory is not None:
        line["memory"] = hexed(step.memory)
    if step.error:
        line["error"] = step.error
    return line


def eip3155_end(receipt: EvmReceipt, state_root: bytes | None = None) -> dict[str, Any]:
    """The last line. The time is left out, and the root of the state where it is not named."""
    line: dict[str, Any] = {
        "output": hexed(receipt.output),
        "gasUsed": hex(receipt.gas_used),
        "pass": receipt.succeeded,
    }
    return line if state_root is None else {"stateRoot": hexed(state_root), **line}


def eip3155(steps: Iterable[TracedStep], receipt: EvmReceipt) -> Iterator[dict[str, Any]]:
    """All lines of a transaction."""
    for step in steps:
        yield eip3155_line(step)
    yield eip3155_end(receipt)


def struct_logs(
    steps: Iterable[TracedStep], receipt: EvmReceipt, *, with_storage: bool = True
) -> dict[str, Any]:
    """What debug_traceTransaction answers where no tracer is named."""
    storages: dict[bytes, dict[str, str]] = {}
    return {
        "gas": receipt.gas_used,
        "failed": not receipt.succeeded,
        "returnValue": hexed(receipt.output),
        "structLogs": [struct_log(step, storages if with_storage else None) for step in steps],
    }


def struct_log(step: TracedStep, storages: dict[bytes, dict[str, str]] | None) -> dict[str, Any]:
    """One of them; `storages` collects what the steps before it read and wrote."""
    log: dict[str, Any] = {
        "pc": step.pc,
        "op": step.name,
        "gas": step.gas,
        "gasCost": step.cost,
        "depth": step.depth,
        "stack": [hex(word) for word in step.stack],
    }
    if step.error:
        log["error"] = step.error
    if step.returned:
        log["returnData"] = hexed(step.returned)
    if step.memory is not None:
        at = range(0, len(step.memory), WORD_BYTES)
        log["memory"] = [step.memory[begin : begin + WORD_BYTES].hex() for begin in at]
    if step.refund:
        log["refund"] = step.refund
    if step.slot is not None and storages is not None:
        key, value = step.slot
        storage = storages.setdefault(step.address, {})
        storage[f"{key:064x}"] = f"{value:064x}"
        log["storage"] = dict(storage)
    return log


def hexed(data: bytes) -> str:
    return "0x" + data.hex()
