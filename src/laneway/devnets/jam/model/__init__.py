"""A JAM chain in memory: validators, blocks and forks, and what its nodes answer. Pure."""
