"""An account's request in Python's own words → as the wire has it."""

from collections.abc import Mapping

from laneway.core.units import read_wei
from laneway.wire.evm import EvmPayload

AMOUNTS = ("value", "max_fee_per_gas", "max_priority_fee_per_gas", "max_cost")


def evm_payload(data: str | bytes | None, options: Mapping[str, object]) -> EvmPayload:
    given: dict[str, object] = {name: said for name, said in options.items() if said is not None}
    for name in AMOUNTS:
        if name in given:
            given[name] = wei(given[name])
    for name, said in (("to", given.get("to")), ("data", data)):
        if isinstance(said, bytes):
            given[name] = "0x" + said.hex()
        elif said is not None:
            given[name] = said
    return EvmPayload(**given)  # type: ignore[arg-type]


def wei(said: object) -> str:
    """Whole wei, from a number or from words like "1 gwei"; hexadecimal digits go as they are."""
    text = str(said)
    return text if text.startswith("0x") else str(read_wei(text))
