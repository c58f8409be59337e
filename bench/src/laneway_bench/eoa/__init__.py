"""`laneway bench eoa`: the benchmark, and the processes that it measures."""
