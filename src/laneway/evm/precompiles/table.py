"""Which contracts each fork has, by address.

The names are those of EIP-7910, which `eth_config` answers. A price is cheap to compute and may be
above any gas there is; it is asked for before the caller knows whether it can pay, and `run` after.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from laneway.evm.fork import Fork
from laneway.evm.precompiles import blake2f, ecrecover, hashes, kzg, modexp, p256
from laneway.evm.precompiles.bls12381 import calls as bls12381
from laneway.evm.precompiles.bls12381 import prices
from laneway.evm.precompiles.bn254 import calls as bn254
from laneway.evm.precompiles.errors import needed


class Precompile(NamedTuple):
    name: str
    gas: Callable[[bytes], int]
    run: Callable[[bytes], bytes | None]
    """The output; None for a failure, which takes all gas of the call."""


Table = Mapping[bytes, Precompile]
PACKAGES = ("py_arkworks_bls12381", "blake2b", "gmpy2")
"""What the extra `precompiles` installs, by the names of the modules."""


def address(number: int) -> bytes:
    return number.to_bytes(20, "big")


CANCUN = {
    address(0x01): Precompile("ECREC", ecrecover.gas, ecrecover.run),
    address(0x02): Precompile("SHA256", hashes.sha256_gas, hashes.sha256_run),
    address(0x03): Precompile("RIPEMD160", hashes.ripemd160_gas, hashes.ripemd160_run),
    address(0x04): Precompile("ID", hashes.identity_gas, hashes.identity_run),
    address(0x05): Precompile("MODEXP", modexp.gas, modexp.run),
    address(0x06): Precompile("BN254_ADD", bn254.addition_gas, bn254.addition),
    address(0x07): Precompile("BN254_MUL", bn254.multiplication_gas, bn254.multiplication),
    address(0x08): Precompile("BN254_PAIRING", bn254.pairing_gas, bn254.pairing),
    address(0x09): Precompile("BLAKE2F", blake2f.gas, blake2f.run),
    address(0x0A): Precompile("KZG_POINT_EVALUATION", kzg.gas, kzg.run),
}
PRAGUE = CANCUN | {
    address(0x0B): Precompile("BLS12_G1ADD", prices.g1_addition, bls12381.g1_addition),
    address(0x0C): Precompile("BLS12_G1MSM", prices.g1_sum, bls12381.g1_sum),
    address(0x0D): Precompile("BLS12_G2ADD", prices.g2_addition, bls12381.g2_addition),
    address(0x0E): Precompile("BLS12_G2MSM", prices.g2_sum, bls12381.g2_sum),
    address(0x0F): Precompile("BLS12_PAIRING_CHECK", prices.pairing, bls12381.pairing),
    address(0x10): Precompile("BLS12_MAP_FP_TO_G1", prices.g1_map, bls12381.g1_map),
    address(0x11): Precompile("BLS12_MAP_FP2_TO_G2", prices.g2_map, bls12381.g2_map),
}
OSAKA = PRAGUE | {
    address(0x05): Precompile("MODEXP", modexp.gas_since_osaka, modexp.run_since_osaka),
    address(0x100): Precompile("P256VERIFY", p256.gas, p256.run),
}
TABLES = {
    Fork.OSAKA: MappingProxyType(OSAKA),
    Fork.PRAGUE: MappingProxyType(PRAGUE),
    Fork.CANCUN: MappingProxyType(CANCUN),
}
"""The newest first. A fork that changes no contract has the table of the one before it."""


@cache
def precompiles(fork: Fork) -> Table:
    """Those of a fork, which is Cancun or a later one, by the 20 bytes of their addresses."""
    assert fork >= Fork.CANCUN, fork
    return next(table for since, table in TABLES.items() if fork >= since)


def check_packages() -> None:
    """Raise PrecompileUnavailable unless all packages are installed, for who executes strangers'
    code: without one of them a call has no answer, without the others some input takes minutes."""
    for package in PACKAGES:
        with needed(package):
            import_module(package)
