"""A proxy before a JSON-RPC node that misbehaves as rules say."""
