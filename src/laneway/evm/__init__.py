"""Pure: transactions, RLP and the curve of EVM chains."""
