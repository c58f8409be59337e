"""`laneway bench evm`: the benchmark, and the processes that it measures."""
