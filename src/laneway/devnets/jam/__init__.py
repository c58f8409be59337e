"""A JAM network of its own: a chain model, and its JIP-2 socket."""
