"""What every rollup does on a JAM chain: its blocks in one line, and proven."""
