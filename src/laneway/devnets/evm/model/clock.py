"""Which time the next block has: the machine's, unless it was moved. The rules are anvil's."""

MS_PER_S = 1_000


class BlockClock:
    def __init__(self, last_ms: int) -> None:
        self._last_ms = last_ms
        """Of the newest block, or what was set in its place."""
        self._offset_ms = 0
        """How far the chain's time is from the machine's."""
        self._exact_s: int | None = None
        """Of the next block alone."""
        self.interval_s: int | None = None
        """Between each block and the next, whatever time it is."""

    def next_ms(self, now_ms: int) -> int:
        """When a block is of that is made now. No block is older than the one before it."""
        if self._exact_s is not None:
            return self._exact_s * MS_PER_S
        if self.interval_s is not None:
            return self._last_ms + self.interval_s * MS_PER_S
        moved_ms = now_ms + self._offset_ms
        if moved_ms // MS_PER_S < self._last_ms // MS_PER_S:
            return self._last_ms + MS_PER_S
        return max(moved_ms, self._last_ms)

    def take(self, now_ms: int) -> int:
        """The same, of a block that is made; time goes on from a time that was set."""
        found_ms = self._last_ms = self.next_ms(now_ms)
        if self._exact_s is not None:
            self._offset_ms, self._exact_s = found_ms - now_ms, None
        return found_ms

    def follow(self, made_ms: int) -> None:
        """The newest block is another one, of this time."""
        self._last_ms = made_ms

    def increase(self, seconds: int) -> int:
        """Move on; all that it was moved by so far, in seconds."""
        self._offset_ms += seconds * MS_PER_S
        return self._offset_ms // MS_PER_S

    def set_next(self, at_s: int) -> bool:
        """Choose the next block's time; False if the newest block is later than that."""
        if at_s < self._last_ms // MS_PER_S:
            return False
        self._exact_s = at_s
        return True

    def set_now(self, at_ms: int, now_ms: int) -> int:
        """Let it be that time now, be it before that of the newest block. By how much the chain's
        time went on, in seconds; 0 where it went back."""
        moved_ms = at_ms - now_ms - self._offset_ms
        self._last_ms, self._offset_ms, self._exact_s = at_ms, at_ms - now_ms, None
        return max(moved_ms, 0) // MS_PER_S
