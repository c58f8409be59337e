"""The bytes of a multiproof, as JAM DUNA has them; strict both ways: each proof has one form."""

from struct import Struct as Layout
from struct import pack, unpack_from

from laneway.ubt.errors import UnprovenTree
from laneway.ubt.limits import STEM_BYTES
from laneway.ubt.multiproof import MultiProof

COUNTS = Layout("<5I")
KEY = Layout("<IB")


class ProofBytes:
    """Reads a proof's bytes from the first to the last; UnprovenTree where they end too early."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def take(self, size: int) -> bytes:
        found = self._content[self._at : self._at + size]
        if len(found) < size:
            raise UnprovenTree(problem=f"its bytes end at {len(self._content)}")
        self._at += size
        return found

    def takes(self, count: int, size: int) -> list[bytes]:
        """As many parts of one size; nothing is made of a count that cannot be."""
        found = self.take(count * size)
        return [found[at : at + size] for at in range(0, count * size, size)]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def check_end(self) -> None:
        if self._at != len(self._content):
            raise UnprovenTree(problem=f"its bytes go on after {self._at}")


def encode_multiproof(proof: MultiProof) -> bytes:
    parts = (proof.keys, proof.values, proof.nodes, proof.refs, proof.stems)
    return b"".join(
        [
            COUNTS.pack(*map(len, parts)),
            *[KEY.pack(*key) for key in proof.keys],
            *[b"\x00" if value is None else b"\x01" + value for value in proof.values],
            *proof.nodes,
            pack(f"<{len(proof.refs)}I", *proof.refs),
            *proof.stems,
        ]
    )


def decode_multiproof(content: bytes) -> MultiProof:
    """UnprovenTree unless these are the bytes of a proof; whether it holds is not looked at."""
    reader = ProofBytes(content)
    counts = COUNTS.unpack(reader.take(COUNTS.size))
    if counts[0] != counts[1]:
        raise UnprovenTree(problem=f"it has {counts[0]} keys and {counts[1]} values")
    keys = tuple(KEY.iter_unpack(reader.take(counts[0] * KEY.size)))
    values = tuple([_value(reader) for _ in range(counts[1])])
    nodes = tuple(reader.takes(counts[2], 32))
    refs = unpack_from(f"<{counts[3]}I", reader.take(4 * counts[3]))
    stems = tuple(reader.takes(counts[4], STEM_BYTES))
    reader.check_end()
    return MultiProof(keys, values, nodes, refs, stems)


def _value(reader: ProofBytes) -> bytes | None:
    match reader.take(1):
        case b"\x00":
            return None
        case b"\x01":
            return reader.take(32)
        case other:
            raise UnprovenTree(problem=f"a value begins with {other[0]}")
