"""Pure: what happened inside a transaction, step by step, call by call, and account by account."""
