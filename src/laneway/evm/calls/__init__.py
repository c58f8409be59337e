"""Pure: calls that no block has: their answers, their gas, and what they would touch."""
