"""Laws of an account's request as it is stored."""

import msgspec

from laneway.ports import EvmRequest, EvmWords, stored_form

PLAIN = EvmRequest(b"\x11" * 20, b"\x05", b"call", trace="t")


def test_a_request_without_words_is_stored_as_before_there_were_any() -> None:
    encode, decode = msgspec.msgpack.encode, msgspec.msgpack.Decoder(EvmRequest).decode
    assert len(msgspec.msgpack.decode(encode(stored_form(PLAIN)))) == 12
    assert decode(encode(stored_form(PLAIN))) == PLAIN
    words = msgspec.structs.replace(PLAIN, words=EvmWords(("f()",), 4))
    assert decode(encode(stored_form(words))) == words
