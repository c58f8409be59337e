"""An account's request with Python's own values → as the wire has it."""

from collections.abc import Mapping

from laneway.core.units import read_wei
from laneway.wire.evm import EvmPayload

AMOUNTS = ("value", "max_fee_per_gas", "max_priority_fee_per_gas", "max_cost")


def evm_payload(data: str | bytes | None, options: Mapping[str, object]) -> EvmPayload:
    fields: dict[str, object] = {
        name: value for name, value in options.items() if value is not None
    }
    for name in AMOUNTS:
        if name in fields:
            fields[name] = wei(fields[name])
    for name, value in (("to", fields.get("to")), ("data", data)):
        if isinstance(value, bytes):
            fields[name] = "0x" + value.hex()
        elif value is not None:
            fields[name] = value
    return EvmPayload(**fields)  # type: ignore[arg-type]


def wei(value: object) -> str:
    """Whole wei, from a number or from a text like "1 gwei"; hexadecimal digits go as they are."""
    text = str(value)
    return text if text.startswith("0x") else str(read_wei(text))
