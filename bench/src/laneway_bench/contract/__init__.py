"""`laneway bench contract`: the benchmark, and the processes that it measures."""
