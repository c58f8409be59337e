"""`laneway bench rollup-front`: the benchmark, and the processes that it measures."""
