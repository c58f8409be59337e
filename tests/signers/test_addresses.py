"""Addresses as people write them."""

import pytest

from laneway.signers.addresses import checksummed, parse_address

# EIP-55's own examples.
EXAMPLES = [
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
]


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_case_of_letters_guards_an_address(text: str) -> None:
    address = bytes.fromhex(text[2:])
    assert checksummed(address) == text
    for written in (text, text[2:], text.lower(), text[2:].upper()):
        assert parse_address(written) == address


def test_a_mistyped_address_is_none() -> None:
    good = EXAMPLES[4]
    for text in (good.replace("A", "a", 1), good[:-1], f"{good}0", "", "0x", f"{good[:-1]}g"):
        assert parse_address(text) is None
