"""The contract at address 0x100: whether a signature on the curve P-256 is valid (EIP-7951)."""

GAS = 6_900
P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
VALID = (1).to_bytes(32, "big")


def gas(_data: bytes) -> int:
    return GAS


def run(data: bytes) -> bytes:
    """One in a word, or nothing; no input is a failure."""
    if len(data) != 160:
        return b""
    r, s, x, y = (int.from_bytes(data[at : at + 32], "big") for at in (32, 64, 96, 128))
    # Infinity, whose coordinates are zero, is not on the curve and needs no question of its own.
    if not (0 < r < N and 0 < s < N and x < P and y < P):
        return b""
    return VALID if is_valid(data[:32], r, s, x, y) else b""


def is_valid(digest: bytes, r: int, s: int, x: int, y: int) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    from cryptography.hazmat.primitives.hashes import SHA256

    try:
        key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        signature = utils.encode_dss_signature(r, s)
        key.verify(signature, digest, ec.ECDSA(utils.Prehashed(SHA256())))
    except (ValueError, InvalidSignature):
        return False
    return True
