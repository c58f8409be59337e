"""Cosmos transactions: protobuf, sign documents, addresses, keys, blobs. Pure."""
