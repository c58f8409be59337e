"""Counter lanes: additions to a counter, in order, each exactly once."""
