"""laneway gets every transaction on chain exactly once, in order, even if you crash."""
