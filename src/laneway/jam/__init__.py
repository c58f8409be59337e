"""What a JAM chain says in bytes and decides by: codec, trees, erasure code, votes; pure."""
