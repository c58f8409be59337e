"""Pure: transactions and blocks, from the first check to the last receipt."""
