"""Bounds of the wire, each with its reason."""

PAGE_DEFAULT = 50
PAGE_MAX = 500
"""Items of one page: 500 of the smallest are 150 KB and take the store about 5 ms."""

CURSOR_CHARS_MAX = 700
"""A cursor holds a lane id and an intent id, in base64."""

REASON_CHARS_MAX = 500
"""As the engine has it; more does not fit on a page's line."""

NUMBER_MAX = (1 << 53) - 1
"""The largest number that JSON, SQLite and every language in between agree on."""

EVENT_CURSOR_CHARS_MAX = 512
"""Of a Last-Event-ID: a vector of a few numbers at most."""

EVENT_BYTES_MAX = 1 << 20
"""Of one event as it is read; ours have a few hundred bytes, so more is another server's."""
