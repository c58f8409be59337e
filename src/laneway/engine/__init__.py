"""The reactor, which does no I/O at all, and its asyncio shell."""
