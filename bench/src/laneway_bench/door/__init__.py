"""`laneway bench door`: the benchmark, and the processes that it measures."""
