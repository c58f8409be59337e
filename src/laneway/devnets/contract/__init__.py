"""The contract devnet: token chains and quorum rounds with the race of seed 004."""
