"""Bounds of calls in words, each with its reason."""

ITEM_CHARS_MAX = 8_192
"""Of one function, event or error in human-readable form: the longest of deployed protocols, with
structs of twenty members, have about a thousand."""

ITEMS_MAX = 4_096
"""Of one ABI: a contract of 24 KB has room for some hundred functions."""

PARAMETERS_MAX = 256
"""Of one function or tuple: Solidity's stack takes sixteen, and structs have some dozens."""

NESTING_MAX = 16
"""Tuples and arrays within each other; people write three."""

WORDS_MAX = 65_536
"""32-byte words that a type has at least, 2 MB: as much as the largest payload could hold twice. A
fixed array that is longer can be passed by nobody."""

JSON_CHARS_MAX = 4 << 20
"""Of an ABI or a compiler's artifact as text: large artifacts, with sources and AST, have 2 MB."""

TEXT_CHARS_MAX = 2 << 20
"""Of one argument as text: 1 MB of bytes in hexadecimal."""

SHOWN_CHARS_MAX = 80
"""Of a value that an error repeats: a line of a terminal."""

CANDIDATES_MAX = 20
"""Signatures that an error lists: a page of a terminal."""

DECODED_BYTES_MAX = 32 << 10
"""Of data that is put into words. What a contract wrote may be shown by every later question; a
longer one stays hexadecimal."""

DECODED_COST_MAX = 1 << 16
"""Values that data of this length could be read as by pointers into itself: some 50 ms of work."""

KEPT_BYTES_MAX = 4 << 10
"""Of an ABI that is kept with a request: the called function, and the errors and events of a token
with access control (about 3 KB). The request itself stays larger than what explains it."""

REVERT_CHARS_MAX = 500
"""Of a revert's reason; more does not fit on a line of a page."""
