"""A JSON-RPC 2.0 server over HTTP and WebSocket: methods by their names, in a chain's dialect."""
