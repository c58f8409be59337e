"""A mutation is caught when a law or an assertion failed, and never when the code fell over."""

import pytest
from scripts.mutants import LIST, Mutation, judge, mutations

ONE = Mutation("M01", "a title", "src/a.py", "x\n", "y\n", "-m pytest tests")

ASSERTED = """\
>       assert lane.slot is None
E       AssertionError: assert Slot(id=1) is None

tests/lanes/test_machine.py:20: AssertionError
red: assertion AssertionError
=========================== short test summary info ============================
FAILED tests/lanes/test_machine.py::test_a_law - AssertionError: assert Slot(i...
1 failed in 0.36s
"""

FELL_OVER = """\
>       for effect in effects:
E       TypeError: 'Execute' object is not iterable

src/laneway/engine/reactor.py:431: TypeError
red: falls over TypeError
=========================== short test summary info ============================
FAILED tests/engine/test_reactor.py::test_a_law - TypeError: 'Execute' object ...
1 failed in 0.36s
"""

LAW_BROKE = """\
contract s1: 60 worlds, 21904 steps, 2.5 s, 3 broken
  laneway sim --kind contract --layer s1 --seed 4   # never twice: d3 ran in the blocks 2 and 4
  red: assertion LawBroken
"""

LANE_FELL_OVER = """\
contract s1: 60 worlds, 1904 steps, 2.5 s, 60 broken
  laneway sim --kind contract --layer s1 --seed 0   # contract:T0 was stopped by a bug: TypeError(\
"'Execute' object is not iterable")
  red: falls over TypeError
"""

NEVER_MET = """\
eoa s1: 400 worlds, 21904 steps, 2.5 s, 0 broken
  never met: gap filled
"""

PROCESS_FELL_OVER = """\
>       assert ran.returncode == 0, ran.stderr
E       AssertionError: Traceback (most recent call last):
E           File "/tmp/x/src/laneway/__main__.py", line 3, in <module>
E             main()
E         AttributeError: 'NoneType' object has no attribute 'lane'
E       assert 1 == 0
red: assertion AssertionError
1 failed in 2.10s
"""

OTHER = """\
E       KeyError: 'row'
red: another error KeyError
1 failed in 0.36s
"""

DOMAIN = """\
E       laneway.core.errors.LeaseLost: contract:T was lost
red: another error LeaseLost
1 failed in 0.36s
"""

WAITED = """\
E       TimeoutError
red: time-out TimeoutError
1 failed in 30.36s
"""

UNREADABLE = """\
ImportError while importing test module 'tests/engine/test_reactor.py'.
E   IndentationError: unexpected indent
1 error in 0.36s
"""


@pytest.mark.parametrize("output", [ASSERTED, LAW_BROKE, ASSERTED + OTHER, ASSERTED + DOMAIN])
def test_a_failed_law_or_assertion_catches(output: str) -> None:
    assert judge(ONE, 1, output) == "caught"


@pytest.mark.parametrize(
    ("output", "name"),
    [
        (FELL_OVER, "TypeError"),
        (LANE_FELL_OVER, "TypeError"),
        (PROCESS_FELL_OVER, "AttributeError"),
        (UNREADABLE, "IndentationError"),
    ],
)
@pytest.mark.parametrize("other", ["", ASSERTED, LAW_BROKE, OTHER, WAITED])
@pytest.mark.parametrize("code", [1, 2, None])
def test_code_that_falls_over_never_catches(
    output: str, name: str, other: str, code: int | None
) -> None:
    for one in (ONE, ONE._replace(hangs=True), ONE._replace(red_by=name)):
        assert judge(one, code, output + other) == f"FALLS OVER: {name}"


@pytest.mark.parametrize(("output", "name"), [(OTHER, "KeyError"), (DOMAIN, "LeaseLost")])
def test_another_error_catches_only_where_its_section_names_it(output: str, name: str) -> None:
    assert judge(ONE, 1, output) == f"another error: {name}"
    assert judge(ONE._replace(red_by="ValueError"), 1, output) == f"another error: {name}"
    assert judge(ONE._replace(red_by=name), 1, output).startswith("caught")


@pytest.mark.parametrize(("code", "output"), [(1, WAITED), (1, "+++ Timeout +++"), (None, "")])
def test_a_time_out_catches_only_where_its_section_says_so(code: int | None, output: str) -> None:
    assert judge(ONE, code, output) == "hangs, and its section does not say so"
    assert judge(ONE._replace(hangs=True), code, output) == "caught (it hangs)"


@pytest.mark.parametrize(
    ("code", "output", "verdict"),
    [
        (0, "1 passed", "SURVIVED"),
        (0, FELL_OVER, "SURVIVED"),
        (1, NEVER_MET, "red for no known reason"),
        (1, "", "red for no known reason"),
        (4, "ERROR: not found: tests/a.py", "could not be tried"),
        (5, "no tests ran", "could not be tried"),
        (-9, ASSERTED, "could not be tried"),
    ],
)
def test_anything_else_catches_nothing(code: int, output: str, verdict: str) -> None:
    assert judge(ONE, code, output).startswith(verdict)


def test_a_section_says_what_may_catch_it() -> None:
    body = (
        "In `src/a.py`\n\n```python\nx\n```\n\n```python\ny\n```\n\nCaught by `-m pytest tests`\n"
    )
    text = f"# Mutations\n\n## M01 a title\n\n{body}\n## M02 b\n\n{body}\nHangs.\n"
    text += f"\n## M03 c\n\n{body}\nRed by LeaseLost: the owner is told in time.\n"
    first, second, third = mutations(text)
    assert first == ONE
    assert second == ONE._replace(name="M02", title="b", hangs=True)
    assert third == ONE._replace(name="M03", title="c", red_by="LeaseLost")
    with pytest.raises(SystemExit, match="M04 is not complete"):
        mutations("## M04 d\n")


def test_no_section_of_the_list_stands_twice() -> None:
    names = [one.name for one in mutations(LIST.read_text())]
    assert len(names) == len(set(names))
