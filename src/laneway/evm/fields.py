"""The fields of a transaction, read from decoded RLP. Each refuses by the field's name."""

from hashlib import sha256

from laneway.evm.errors import (
    FieldOverflow,
    MalformedField,
    SidecarMismatch,
    WrongFieldCount,
)
from laneway.evm.limits import BLOB_BYTES, CELL_PROOFS_PER_BLOB, COMMITMENT_BYTES
from laneway.evm.rlp import Item
from laneway.evm.transaction import Access, Authorization, Sidecar

BLOB_HASH_VERSION = b"\x01"


def elements(item: Item, what: str, count: int | None = None) -> tuple[Item, ...]:
    """The items of a list; WrongFieldCount unless there are `count` of them, if it is named."""
    if isinstance(item, bytes):
        raise MalformedField(field=what, problem="it is not a list")
    if count is not None and len(item) != count:
        raise WrongFieldCount(what=what, given=len(item), wanted=count)
    return item


def data(item: Item, field: str) -> bytes:
    if not isinstance(item, bytes):
        raise MalformedField(field=field, problem="it is a list")
    return item


def number(item: Item, field: str, bits: int) -> int:
    digits = data(item, field)
    if digits[:1] == b"\x00":
        raise MalformedField(field=field, problem="it has leading zeros")
    if len(digits) * 8 > bits:
        raise FieldOverflow(field=field, bits=bits)
    return int.from_bytes(digits, "big")


def fixed(item: Item, field: str, length: int) -> bytes:
    found = data(item, field)
    if len(found) != length:
        raise MalformedField(field=field, problem=f"it has {len(found)} bytes, not {length}")
    return found


def recipient(item: Item) -> bytes | None:
    """An address; no bytes at all create a contract."""
    return fixed(item, "to", 20) if item != b"" else None


def hashes(item: Item, field: str) -> tuple[bytes, ...]:
    return tuple([fixed(entry, field, 32) for entry in elements(item, field)])


def accesses(item: Item) -> tuple[Access, ...]:
    found = []
    for entry in elements(item, "access_list"):
        account, keys = elements(entry, "access_list", 2)
        address = fixed(account, "access_list.address", 20)
        found.append(Access(address, hashes(keys, "access_list.keys")))
    return tuple(found)


def authorizations(item: Item) -> tuple[Authorization, ...]:
    found = []
    for entry in elements(item, "authorizations"):
        chain_id, account, nonce, y_parity, r, s = elements(entry, "authorizations", 6)
        found.append(
            Authorization(
                number(chain_id, "authorizations.chain_id", 256),
                fixed(account, "authorizations.address", 20),
                number(nonce, "authorizations.nonce", 64),
                number(y_parity, "authorizations.y_parity", 8),
                number(r, "authorizations.r", 256),
                number(s, "authorizations.s", 256),
            )
        )
    return tuple(found)


def sidecar(items: tuple[Item, ...]) -> Sidecar:
    """What follows the fields in the form that nodes send each other."""
    if len(items) not in (3, 4):
        raise WrongFieldCount(what="sidecar", given=len(items), wanted=3)
    version = number(items[0], "sidecar.version", 8) if len(items) == 4 else 0
    if len(items) == 4 and version != 1:
        raise MalformedField(field="sidecar.version", problem=f"{version} is not known")
    parts = [elements(item, "sidecar") for item in items[-3:]]
    sizes = {"blobs": BLOB_BYTES, "commitments": COMMITMENT_BYTES, "proofs": COMMITMENT_BYTES}
    return Sidecar(
        version,
        *(
            tuple([fixed(entry, f"sidecar.{name}", size) for entry in part])
            for part, (name, size) in zip(parts, sizes.items(), strict=True)
        ),
    )


def check_sidecar(carried: Sidecar, blob_hashes: tuple[bytes, ...]) -> None:
    """SidecarMismatch unless counts and versioned hashes agree; proofs are not verified."""
    count = len(blob_hashes)
    if len(carried.blobs) != count or len(carried.commitments) != count:
        raise SidecarMismatch(problem=f"there are {count} blob hashes")
    wanted = count * CELL_PROOFS_PER_BLOB if carried.version else count
    if len(carried.proofs) != wanted:
        raise SidecarMismatch(problem=f"there are {len(carried.proofs)} proofs, not {wanted}")
    if tuple([blob_hash(commitment) for commitment in carried.commitments]) != blob_hashes:
        raise SidecarMismatch(problem="the hash of a commitment is not the one that was signed")


def blob_hash(commitment: bytes) -> bytes:
    """EIP-4844: the versioned hash of a commitment."""
    return BLOB_HASH_VERSION + sha256(commitment).digest()[1:]
