"""Pure machines, one package a lane kind: contract. They know nothing of stores or clocks."""
