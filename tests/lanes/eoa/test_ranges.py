"""Free numbers as ranges, against a plain set."""

from random import Random

from laneway.lanes.eoa.ranges import Ranges


def listed(ranges: Ranges) -> list[int]:
    return [number for start, end in ranges.rows().items() for number in range(start, end)]


def test_ranges_hold_what_a_set_would_and_say_which_rows_changed() -> None:
    random = Random(7)
    ranges, known, rows = Ranges(), set[int](), dict[int, int]()
    for _ in range(5_000):
        number = random.randrange(60)
        starts = ranges.take(number) if number in known else ranges.add(number)
        known ^= {number}
        now = ranges.rows()
        for start in starts:
            if start in now:
                rows[start] = now[start]
            else:
                rows.pop(start, None)
        assert rows == now
        assert listed(ranges) == sorted(known)
        assert ranges.count == len(known)
        assert (number in ranges) == (number in known)
        assert ranges.lowest() == min(known, default=None)
        limit = random.randrange(1, 10)
        assert ranges.first(limit) == sorted(known)[:limit]


def test_ranges_stand_up_from_their_rows() -> None:
    ranges = Ranges()
    ranges.load(10, 12)
    ranges.load(3, 4)
    assert listed(ranges) == [3, 10, 11]
    assert ranges.first(9) == [3, 10, 11]
    assert ranges.count == 3
