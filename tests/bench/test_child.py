"""A child is asked, answers, and is always ended."""

import signal
import subprocess
import sys
import time

import pytest

from laneway_bench.child import BenchFailed, Child, end

ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"progress": 0.5}), flush=True)
    print(json.dumps({"result": json.loads(line)}), flush=True)
"""
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
time.sleep(600)
"""


def child(code: str) -> Child:
    return Child([sys.executable, "-c", code])


def test_a_child_answers_question_after_question_and_says_how_far_it_is() -> None:
    heard: list[float | None] = []
    with child(ECHO) as one:
        assert one.ask({"n": 1}, heard.append) == {"n": 1}
        assert one.ask({"n": 2}, heard.append) == {"n": 2}
    assert [part for part in heard if part is not None] == [0.5, 0.5]


def test_a_child_that_dies_says_why() -> None:
    with (
        pytest.raises(BenchFailed, match=r"ended with code 1[\s\S]*no such luck"),
        child("raise SystemExit('no such luck')") as one,
    ):
        one.ask({})


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_child_that_is_gone_cannot_be_asked(size: int) -> None:
    with child("pass") as one:
        one._process.wait()
        with pytest.raises(BenchFailed):
            one.ask({"long": "x" * size})


def test_a_silent_child_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laneway_bench.child.ANSWER_S_MAX", 0.01)
    monkeypatch.setattr("laneway_bench.child.POLL_S", 0.02)
    with pytest.raises(BenchFailed, match="was silent"), child("input(); input()") as one:
        one.ask({})
    assert one._process.returncode is not None


def test_a_child_is_ended_when_the_benchmark_fails() -> None:
    begun_s = time.monotonic()
    with pytest.raises(KeyError), child("import time; time.sleep(600)") as one:
        raise KeyError
    assert one._process.returncode == -signal.SIGTERM
    assert time.monotonic() - begun_s < 60


def test_a_child_that_will_not_listen_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laneway_bench.child.END_S_MAX", 0.2)
    process = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout:
        process.stdout.readline()
        end(process)
        assert process.returncode == -signal.SIGKILL
        end(process)  # Ending what has ended changes nothing.
