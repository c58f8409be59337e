"""Keys of Cosmos accounts from the places that configurations name."""

import asyncio
from pathlib import Path

import pytest

from laneway.cosmos.keys import derived, seed_of, verifies
from laneway.ports import CosmosSigner, PromptCosmosSigner
from laneway.signers.cosmos import LocalCosmosSigner, open_cosmos_signer
from laneway.signers.place import SignerUnusable

SECRET = "11" * 32
PHRASE = "test test test test test test test test test test test junk"


def open_(uri: str, **environ: str) -> LocalCosmosSigner:
    return asyncio.run(open_cosmos_signer(uri, environ=environ))


def private(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_key_in_the_environment_signs_over_sha_256() -> None:
    signer = open_("env:KEY", KEY=SECRET)
    checked: CosmosSigner = signer
    assert isinstance(signer, PromptCosmosSigner)
    signature = asyncio.run(checked.sign(b"payload"))
    assert signature == signer.sign_now(b"payload")
    assert verifies(signer.public_key, signature, b"payload")
    asyncio.run(signer.close())


def test_a_key_in_a_file_is_the_same_key(tmp_path: Path) -> None:
    file = private(tmp_path / "key", SECRET)
    assert open_(f"file:{file}").public_key == open_("env:KEY", KEY=SECRET).public_key


def test_a_mnemonic_is_read_from_a_file_and_derived_along_a_path(tmp_path: Path) -> None:
    file = private(tmp_path / "words", PHRASE + "\n")
    first = open_(f"mnemonic:{file}")
    assert first.public_key == LocalCosmosSigner("x", derived(seed_of(PHRASE))).public_key
    path = "m/44'/118'/0'/0/1"
    second = open_(f"mnemonic:{file}#{path}")
    assert second.public_key == LocalCosmosSigner("x", derived(seed_of(PHRASE), path)).public_key


@pytest.mark.parametrize(
    ("content", "path", "problem"),
    [
        ("too few words", "", "3 words"),
        (PHRASE, "#m/x", "path"),
        ("\xff\xfe", "", "words"),
    ],
)
def test_what_is_no_mnemonic_is_said_without_showing_it(
    content: str, path: str, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "words"
    file.write_bytes(content.encode("latin-1"))
    file.chmod(0o600)
    with pytest.raises(SignerUnusable, match=problem) as caught:
        open_(f"mnemonic:{file}{path}")
    assert "few" not in str(caught.value)
    assert "junk" not in str(caught.value)


def test_bytes_that_are_no_text_hold_no_words(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_bytes(b"\xff\xfe")
    file.chmod(0o600)
    with pytest.raises(SignerUnusable, match="does not hold words"):
        open_(f"mnemonic:{file}")


@pytest.mark.parametrize("place", ["", PHRASE, SECRET])
def test_words_in_the_wrong_place_are_not_repeated(place: str) -> None:
    with pytest.raises(SignerUnusable, match="belongs the name of a file") as caught:
        open_(f"mnemonic:{place}")
    assert place == "" or place not in str(caught.value)


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = private(tmp_path / "words", PHRASE)
    file.chmod(0o644)
    with pytest.raises(SignerUnusable, match="others may read"):
        open_(f"mnemonic:{file}")


def test_a_key_that_is_held_elsewhere_cannot_sign_here() -> None:
    with pytest.raises(SignerUnusable, match="not held here"):
        open_("web3signer:http://127.0.0.1:9000#0x" + "11" * 20)


def test_workers_have_keys_of_their_own_which_come_again() -> None:
    signer = open_("env:KEY", KEY=SECRET)
    workers = [signer.worker(number) for number in (1, 2)]
    keys = {signer.public_key, *(worker.public_key for worker in workers)}
    assert len(keys) == 3
    assert signer.worker(1).public_key == workers[0].public_key
    assert workers[0].name == "env:KEY/1"


def test_a_signer_shows_its_public_key_alone() -> None:
    shown = repr(open_("env:KEY", KEY=SECRET))
    assert SECRET not in shown
    assert shown.startswith("LocalCosmosSigner(env:KEY, 0")
