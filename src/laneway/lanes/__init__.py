"""Pure machines, one for each lane kind: contract, audit. They know nothing of stores or clocks."""
