"""`laneway bench jam`: the benchmark, and the processes that it measures."""
