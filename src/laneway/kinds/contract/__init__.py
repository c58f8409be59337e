"""Contract lanes: executions of one contract in strict order."""
