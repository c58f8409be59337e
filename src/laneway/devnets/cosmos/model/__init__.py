"""A Cosmos chain in memory: the application, its accounts and the nodes' mempools. Pure."""
