"""A token bucket: how many calls a node is asked in a second. It waits for nobody itself."""


class Bucket:
    def __init__(self, per_s: float, burst: float, now_s: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._tokens = burst
        self._at_s = now_s

    def take(self, count: int, now_s: float) -> float:
        """Take tokens, also those that are not there yet; how long to wait until they are.

        Whoever comes next waits behind, so nobody is starved by small requests.
        """
        self._tokens = min(self._burst, self._tokens + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        self._tokens -= count
        return max(0.0, -self._tokens / self._per_s)

    def give_back(self, count: int) -> None:
        """What was taken and will not be used."""
        self._tokens = min(self._burst, self._tokens + count)
