"""`laneway bench sequence`: the benchmark, and the processes that it measures."""
