"""`laneway bench rollup`: the benchmark, and the processes that it measures."""
