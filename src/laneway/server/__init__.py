"""The door over HTTP: REST, events, operations. It serves a Desk and knows no store."""
