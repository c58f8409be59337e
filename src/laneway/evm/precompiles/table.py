"""Stub."""
from collections.abc import Callable, Mapping
from typing import NamedTuple
from laneway.evm.fork import Fork
class Precompile(NamedTuple):
    name: str
    gas: Callable[[bytes], int]
    run: Callable[[bytes], bytes | None]
def precompiles(fork: Fork) -> Mapping[bytes, Precompile]:
    return {i.to_bytes(20,"big"): Precompile(str(i), lambda d: 1<<64, lambda d: None) for i in range(1, 11)}
