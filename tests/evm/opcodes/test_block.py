"""0x40s."""

import pytest
from tests.evm.scene import COINBASE, CONTRACT, Scene, word_of


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("COINBASE", int.from_bytes(COINBASE, "big")),
        ("TIMESTAMP", 1_700_000_000),
        ("NUMBER", 300),
        ("PREVRANDAO", int.from_bytes(b"\x44" * 32, "big")),
        ("GASLIMIT", 30_000_000),
        ("CHAINID", 1),
        ("BASEFEE", 7),
        ("BLOBBASEFEE", 3),
        ("SELFBALANCE", 55),
        ("299 BLOCKHASH", 299),
        ("44 BLOCKHASH", 44),
        ("43 BLOCKHASH", 0),
        ("300 BLOCKHASH", 0),
        ("0x" + "ff" * 32 + " BLOCKHASH", 0),
        ("1 BLOBHASH", 0x0102),
        ("2 BLOBHASH", 0),
        ("0x" + "ff" * 32 + " BLOBHASH", 0),
    ],
)
def test_a_frame_knows_its_block(code: str, word: int) -> None:
    scene = Scene()
    scene.put(CONTRACT, balance_wei=55)
    hashes = (b"\x01" * 32, (0x0102).to_bytes(32, "big"))
    assert word_of(code, scene=scene, context=scene.context(blob_hashes=hashes)) == word
