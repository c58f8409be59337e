"""Every setting that can hold a secret is known, and printed without it."""

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import fields

from laneway.core.urls import REDACTED
from laneway.wiring.redaction import free_texts, shown_setting
from laneway.wiring.schema import config_type


def unbounded(kind: Any, path: str = "") -> Iterator[str]:
    """The settings below a type that may be any text: not one of a few words, and without a
    pattern."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        for field in fields(kind):
            yield from unbounded(field.type, f"{path}.{field.name}".lstrip("."))
    elif kind is str:
        yield path
    elif get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        if not any(isinstance(one, Meta) and one.pattern for one in more):
            yield from unbounded(inner, path)
    else:
        for inner in get_args(kind):
            if not isinstance(inner, str):
                yield from unbounded(inner, path)


def test_a_setting_with_free_text_is_declared_a_secret_or_harmless() -> None:
    texts = free_texts()
    lists = (texts.secrets, texts.signers, texts.addresses, texts.harmless)
    assert set(unbounded(config_type())) == frozenset().union(*lists)
    assert sum(map(len, lists)) == len(frozenset().union(*lists))


def test_each_list_is_printed_in_its_own_way() -> None:
    texts = free_texts()
    for path in texts.secrets:
        assert shown_setting(path, "hunter2") == REDACTED
        assert shown_setting(path, None) is None
    for path in texts.signers:
        assert shown_setting(path, "46" * 32) == REDACTED
    for path in texts.addresses | texts.harmless:
        assert shown_setting(path, "http://u:hunter2@h/x") == f"http://{REDACTED}@h/x"


def test_a_table_is_shown_with_all_that_is_in_it() -> None:
    table = {"name": "a", "nodes": ["http://u:p@h"], "accounts": [{"signer": "x", "workers": 2}]}
    assert shown_setting("evm", table) == {
        "name": "a",
        "nodes": [f"http://{REDACTED}@h"],
        "accounts": [{"signer": REDACTED, "workers": 2}],
    }
