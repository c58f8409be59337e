"""An EVM chain in memory: blocks, pools and the rules of its nodes. Pure."""
