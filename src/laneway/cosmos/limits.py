"""Bounds of Cosmos transactions, each with its reason."""

PROTOBUF_DEPTH_MAX = 16
"""Messages inside messages; those of a transaction nest four deep."""

TX_BYTES_MAX = 8 << 20
"""Of one transaction with its blobs (celestia-app's largest; facts §1.6)."""

FEE_MAX = (1 << 63) - 1
"""Of one transaction, in the chain's smallest coin: what a row's integers can say."""

MEMO_CHARS_MAX = 256
"""What the SDK's auth module takes by default."""

ADDRESSES_KEPT_MAX = 4_096
"""Keys whose address is remembered: RIPEMD-160 in Python takes half a millisecond."""
