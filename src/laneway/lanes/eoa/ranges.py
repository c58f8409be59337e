"""Free numbers as half-open ranges: a thousand neighbours are one row."""

from bisect import bisect_right


class Ranges:
    """Disjoint, sorted, never touching each other; changed in place by their one owner."""

    __slots__ = ("_ends", "_starts", "count")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self.count = 0

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._starts, number) - 1
        return place >= 0 and number < self._ends[place]

    def rows(self) -> dict[int, int]:
        return dict(zip(self._starts, self._ends, strict=True))

    def lowest(self) -> int | None:
        return self._starts[0] if self._starts else None

    def first(self, limit: int) -> list[int]:
        """The lowest numbers, at most this many."""
        found: list[int] = []
        for start, end in zip(self._starts, self._ends, strict=True):
            found += range(start, min(end, start + limit - len(found)))
            if len(found) == limit:
                break
        return found

    def add(self, number: int) -> set[int]:
        """Free one number; the starts of the ranges whose rows changed."""
        assert number not in self
        place = bisect_right(self._starts, number)
        joins_left = place > 0 and self._ends[place - 1] == number
        joins_right = place < len(self._starts) and self._starts[place] == number + 1
        self.count += 1
        if joins_left and joins_right:
            gone = self._starts.pop(place)
            self._ends[place - 1] = self._ends.pop(place)
            return {self._starts[place - 1], gone}
        if joins_left:
            self._ends[place - 1] = number + 1
            return {self._starts[place - 1]}
        if joins_right:
            self._starts[place] = number
            return {number, number + 1}
        self._starts.insert(place, number)
        self._ends.insert(place, number + 1)
        return {number}

    def load(self, start: int, end: int) -> None:
        """A whole range, as its row has it."""
        assert start < end
        place = bisect_right(self._starts, start)
        self._starts.insert(place, start)
        self._ends.insert(place, end)
        self.count += end - start

    def take(self, number: int) -> set[int]:
        """The number is used again."""
        assert number in self
        place = bisect_right(self._starts, number) - 1
        start, end = self._starts[place], self._ends[place]
        self.count -= 1
        if start == number and end == number + 1:
            del self._starts[place], self._ends[place]
            return {number}
        if start == number:
            self._starts[place] = number + 1
            return {number, number + 1}
        self._ends[place] = number
        if end == number + 1:
            return {start}
        self._starts.insert(place + 1, number + 1)
        self._ends.insert(place + 1, end)
        return {start, number + 1}
