"""Blocks of a rollup that has no state, and the storage of the service that takes them."""

from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.report import Ok, Outcome
from laneway.jam.service.commitment import ServiceStanding, genesis_records, standing_of
from laneway.jam.service.interface import Operand, Stored, put
from laneway.jam.service.limits import OPERAND_GAS
from laneway.jam.service.sequencing import Sequenced, sequence
from laneway.jam.service.values import CLAIMED, Claim, Claimed

GENESIS = blake2b(b"genesis block")
GENESIS_ROOT = blake2b(b"genesis state")


def named(name: str) -> bytes:
    """A hash of its own for everything that has a name."""
    return blake2b(name.encode())


def claim(name: str, on: Claim | None = None, *, number: int | None = None) -> Claim:
    """The block of this name on another one, or on genesis."""
    before = 0 if on is None else on.number
    return Claim(
        number=before + 1 if number is None else number,
        parent=GENESIS if on is None else on.block,
        block=named(f"block {name}"),
        pre_root=GENESIS_ROOT if on is None else on.post_root,
        post_root=named(f"state {name}"),
    )


def line(count: int) -> list[Claim]:
    """Blocks one on the other."""
    found: list[Claim] = []
    for number in range(1, count + 1):
        found.append(claim(str(number), found[-1] if found else None))
    return found


def operand(
    package: str,
    result: Claim | Outcome,
    *,
    tail: bytes = b"",
    gas: int = OPERAND_GAS,
    authorizer: bytes = ZERO_HASH,
) -> Operand:
    """The work item of a package, with what refine made of it."""
    if isinstance(result, Claim):
        result = Ok(CLAIMED.encode(Claimed(result, tail)))
    return Operand(
        package_hash=named(package),
        exports_root=named(f"exports {package}"),
        authorizer_hash=authorizer,
        payload_hash=named(f"payload {package}"),
        gas=gas,
        result=result,
    )


class Line:
    """A service on a chain of one fork."""

    def __init__(self, records: dict[bytes, bytes] | None = None) -> None:
        self.records = genesis_records(GENESIS, GENESIS_ROOT) if records is None else records

    @property
    def view(self) -> Stored:
        return Stored(self.records)

    def take(self, *operands: Operand, slot: int = 1) -> Sequenced:
        done = sequence(self.view, operands, slot)
        put(self.records, done.writes)
        return done

    def standing(self, package: str, *, number: int, slot: int = 1) -> ServiceStanding:
        return standing_of(self.view, named(package), number=number, slot=slot)
