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

U32_MAX = (1 << 32) - 1
"""JAM's slots, cores and services have 32 bits."""

WEI_MAX = (1 << 256) - 1
"""What a word of the EVM can say: a balance, or the value of a transaction."""

FEE_WEI_MAX = (1 << 60) - 1
"""Of one unit of gas, one ether: no market's price. A first offer of twice the base fee and a tip,
and 1.2 of that in its place, still fit into a row's 64 bits."""

EVENT_CURSOR_CHARS_MAX = 512
"""Of a Last-Event-ID: a vector of a few numbers at most."""

EVENT_BYTES_MAX = 1 << 20
"""Of one event as it is read; ours have a few hundred bytes, so more is another server's."""

RPC_BATCH_COUNT_MAX = 100
"""Calls of one JSON-RPC batch: nodes take 100 by default (Nethermind 1,024, geth 1,000), and more
than that makes no node quicker (measured on anvil: 100 and 1,000 differ by 4 %)."""

RPC_BATCH_BYTES_MAX = 2 << 20
"""Of one batch as it leaves; nodes take 5 MB and more, and six blobs with their proofs are 1.7 MB
in hexadecimal."""

RPC_ANSWER_BYTES_MAX = 32 << 20
"""Of one answer: a block of 20,000 transactions in full has about 12 MB."""

RPC_CONNECT_MS = 5_000
"""A connection that takes longer than two lost SYN packets is none."""

RPC_CONNECTIONS_MAX = 32
"""To one node; a hundred calls share a request, so this is thousands of calls under way."""

RPC_KEEPALIVE_S = 5
"""Shorter than any server's idle limit we know of: bytes written to a dead connection would be
unknown although they never arrived."""

RETRY_AFTER_S_DEFAULT = 1
"""For a node that is busy and does not say until when."""

RETRY_AFTER_S_MAX = 300
"""A node that asks for more is asked again anyway: the word may be a mistake."""

QUANTITY_CHARS_MAX = 78
"""256 bits in decimal digits."""

HEX_CHARS_MAX = 2 + (2 << 20)
"""Of bytes in hexadecimal: the largest payload."""

RAW_CHARS_MAX = 2 + (64 << 10)
"""Of a rollup's transaction in hexadecimal: 32 KB, as the pool of seed 000 has it. A ledger's has
144 bytes."""

LIST_MAX = 1_024
"""Of an access list's entries and keys, and of authorizations: a block's gas ends before."""

BLOBS_MAX = 9
"""The most that any fork takes (Prague)."""

MEMO_CHARS_MAX = 1_024
"""Of a Cosmos memo: chains allow 256, and some more."""

URL_CHARS_MAX = 200
"""Of a message's kind: the longest known ones are under 100."""

NAMESPACE_CHARS_MAX = 58
"""29 bytes in hexadecimal."""

SOCKET_CALLS_MAX = 1_024
"""Calls under way on one WebSocket: some nodes answer one after the other, and this many take them
less than a second. Who comes then waits for a place, within the caller's own time."""

SOCKET_ABANDONED_MAX = 256
"""Calls whose callers no longer wait and that were never answered: a node that owes that many
answers is hung, and the connection is given up."""

SOCKET_SUBSCRIPTIONS_MAX = 768
"""On one WebSocket. PolkaJam refuses more than about 1,024, and a builder that ran into it stood
still; the rest is left for other clients behind the same gateway."""

SOCKET_NOTICES_MAX = 64
"""Notices of one subscription that nobody has read: the oldest give way, for of a chain's head only
the newest matters, and a reader that needs all of them walks the blocks."""

SOCKET_HEARTBEAT_S = 15
"""Between pings: a peer that went without a word is noticed within half as much again."""

SOCKET_LEAVE_S = 10
"""How long the end of a subscription is awaited before its place is given to another: a node that
answers nothing for so long has either ended it or does not count."""

SOCKET_CLOSE_S = 1
"""For last words and the closing handshake; a peer that hangs must not hold a shutdown."""

SOCKET_BRACKETS_MAX = 10_000
"""Lists and objects of one message of a WebSocket; answers have some hundreds."""

HEAD_BYTES_MAX = 64 << 10
"""Of an answer's status and headers: eight times what servers send at most by default."""

CALL_CHARS_MAX = 8_192
"""Of a function's signature, as `evm.abi` has it: a line of any contract."""

ARGUMENTS_MAX = 256
"""Of one call, as `evm.abi` has it: Solidity's stack takes sixteen."""

ABI_BYTES_MAX = 4 << 20
"""Of a file with an ABI or a contract's code: compilers' artifacts with sources and syntax trees
have two megabytes."""
