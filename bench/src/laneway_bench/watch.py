"""Wall and CPU time of this process."""

import time


class Stopwatch:
    """Time since it was made."""

    def __init__(self) -> None:
        self._begun_s = time.perf_counter()
        self._cpu_s = time.process_time()

    def read(self) -> dict[str, float]:
        return {
            "seconds": time.perf_counter() - self._begun_s,
            "cpu_s": time.process_time() - self._cpu_s,
        }
