"""A small rollup: accounts that send to each other. It tortures queues before larger rollups do."""
