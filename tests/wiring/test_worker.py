"""Laws of the worker process: durable before it answers, and a clean end for every way to end."""

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from laneway.demo.worker import is_ours

pytestmark = pytest.mark.slow

Json = dict[str, Any]


class Worker:
    """A worker as any program would use it: lines in, lines out."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115  It lives as long as the worker.
        self.process = subprocess.Popen(
            [sys.executable, *options, "-m", "laneway.wiring.worker"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Not a pipe: nobody here reads it meanwhile, and a full pipe stops who writes.
            stderr=self.log,
        )

    def say(self, *requests: Json) -> None:
        assert self.process.stdin is not None
        for request in requests:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, event: str) -> Json:
        """The next line about this event; other lines are passed over."""
        assert self.process.stdout is not None
        for raw in self.process.stdout:
            line: Json = json.loads(raw)
            if line["event"] == event:
                return line
        pytest.fail(f"it ended without saying {event!r}: {self.rest()[1]}")

    def rest(self) -> tuple[list[Json], str]:
        out, _ = self.process.communicate(timeout=30)
        self.log.seek(0)
        with self.log as log:
            return [json.loads(raw) for raw in out.splitlines()], log.read().decode()

    def end(self) -> tuple[int, list[Json]]:
        """Close its stdin and wait."""
        lines, _ = self.rest()
        return self.process.returncode, lines


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import os

    for name in os.environ:
        if is_ours(name):
            monkeypatch.delenv(name)
    (tmp_path / "laneway.toml").write_text("[host]\nround_ms = 30\n")
    return tmp_path


@pytest.fixture
def worker(folder: Path) -> Iterator[Worker]:
    worker = Worker(folder)
    worker.hear("ready")
    yield worker
    worker.process.kill()
    worker.process.communicate()
    worker.log.close()


def submit(key: str, data: str = "Red", contract: str = "Qm1") -> Json:
    return {"op": "submit", "key": key, "contract": contract, "data": data, "executor": "did"}


def test_a_submission_is_answered_and_its_end_reported(worker: Worker) -> None:
    worker.say(submit("a"))
    taken = worker.hear("accepted")
    assert (taken["key"], taken["replayed"]) == ("a", False)
    ended = worker.hear("settled")
    assert (ended["key"], ended["id"]) == ("a", taken["id"])
    assert (ended["status"], ended["block"]) == ("confirmed", 1)


def test_an_answered_submission_survives_sigkill(worker: Worker, folder: Path) -> None:
    worker.say(submit("a"))
    taken = worker.hear("accepted")
    worker.process.kill()
    worker.process.wait()
    second = Worker(folder)
    second.say(submit("a"))
    again = second.hear("accepted")
    assert (again["id"], again["replayed"]) == (taken["id"], True)
    assert second.hear("settled")["status"] == "confirmed"
    second.say(submit("a"))
    # It ended before this line came, and is told once more all the same.
    assert second.hear("settled")["id"] == taken["id"]
    assert second.end()[0] == 0


def test_lines_are_accepted_in_their_order(worker: Worker) -> None:
    worker.say(*(submit(f"k{n}", f"data {n}") for n in range(50)))
    ended = [worker.hear("settled") for _ in range(50)]
    assert [line["block"] for line in ended] == list(range(1, 51))
    assert [line["key"] for line in ended] == [f"k{n}" for n in range(50)]


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"nonsense\n", "bad_request"),
        (b'{"op":"dance"}\n', "bad_request"),
        (b'{"op":"submit","key":"a"}\n', "bad_request"),
        (b'{"op":"submit","key":"a","contract":"x","data":"y","colour":1}\n', "bad_request"),
        (b'{"op":"submit","key":"","contract":"x","data":"y"}\n', "bad_request"),
        (b'{"op":"submit","key":"a","contract":"a b","data":"y"}\n', "bad_request"),
        (b'{"op":"show","id":"nothing"}\n', "intent_not_found"),
        (b"\xff\xfe\n", "bad_request"),
        (b"\n", "bad_request"),
    ],
)
def test_a_bad_line_is_refused_and_the_next_one_works(
    raw: bytes, error: str, worker: Worker
) -> None:
    assert worker.process.stdin is not None
    worker.process.stdin.write(raw)
    worker.say(submit("good"))
    assert worker.hear("refused")["error"] == error
    assert worker.hear("accepted")["key"] == "good"


def test_a_key_with_another_body_is_refused(worker: Worker) -> None:
    worker.say(submit("a", "Red"), submit("a", "Blue"))
    refused = worker.hear("refused")
    assert (refused["key"], refused["error"]) == ("a", "idempotency_conflict")
    assert refused["retry"] == "never"


def test_metrics_and_intents_are_shown(worker: Worker) -> None:
    worker.say(submit("a"))
    intent = worker.hear("settled")["id"]
    worker.say({"op": "metrics"}, {"op": "show", "id": intent})
    metrics = worker.hear("metrics")["metrics"]
    assert [(row["contract"], row["executeCount"]) for row in metrics] == [("Qm1", 1)]
    shown = worker.hear("shown")
    assert (shown["key"], shown["status"], shown["block"]) == ("a", "confirmed", 1)


def test_at_the_end_of_its_input_it_answers_what_it_read_and_ends_well(worker: Worker) -> None:
    worker.say(*(submit(f"k{n}") for n in range(300)))
    code, lines = worker.end()
    assert code == 0
    assert sum(line["event"] == "accepted" for line in lines) == 300
    assert lines[-1]["event"] == "stopped"


def test_told_to_drain_it_finishes_the_queue_first(worker: Worker) -> None:
    worker.say(*(submit(f"k{n}") for n in range(5)), {"op": "stop", "drain": "queue"})
    code, lines = worker.end()
    assert code == 0
    assert sum(line["event"] == "settled" for line in lines) == 5
    assert lines[-1] == {"event": "stopped", "drained": True}


def test_on_sigterm_no_execution_begins_and_nothing_is_lost(worker: Worker, folder: Path) -> None:
    worker.say(*(submit(f"k{n}") for n in range(100)))
    worker.hear("settled")
    worker.process.send_signal(signal.SIGTERM)
    code, lines = worker.end()
    assert code == 0
    assert lines[-1]["event"] == "stopped"
    second = Worker(folder)
    second.say(*(submit(f"k{n}") for n in range(100)), {"op": "metrics"})
    assert second.hear("metrics")["metrics"][0]["enqueueCount"] == 100
    assert second.end()[0] == 0


def test_sigterm_cuts_a_long_drain_short(worker: Worker) -> None:
    worker.say(*(submit(f"k{n}") for n in range(2_000)), {"op": "stop", "drain": "queue"})
    worker.hear("settled")
    worker.process.send_signal(signal.SIGTERM)
    code, lines = worker.end()
    assert code == 0
    assert lines[-1] == {"event": "stopped", "drained": False}


def test_a_database_of_another_worker_is_refused_in_one_line(worker: Worker, folder: Path) -> None:
    second = Worker(folder)
    lines, err = second.rest()
    assert (second.process.returncode, lines) == (1, [])
    assert err.startswith("laneway: laneway.db: another laneway process")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("[store]\npath = 5\n", (), "laneway.toml: Expected `str`, got `int` - at `$.store.path`"),
        ("", ("-O",), "laneway does not start under 'python -O'"),
    ],
)
def test_it_does_not_start_on_a_mistake(
    text: str, options: tuple[str, ...], problem: str, folder: Path
) -> None:
    (folder / "laneway.toml").write_text(text)
    worker = Worker(folder, *options)
    lines, err = worker.rest()
    assert (worker.process.returncode, lines) == (2, [])
    assert err.startswith(f"laneway: {problem}")
    assert "Traceback" not in err


def test_it_speaks_through_pipes_only(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "laneway.wiring.worker"],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert ran.returncode == 2
    assert b"stdin: a worker speaks through pipes" in ran.stderr


def test_a_line_without_an_end_is_refused(worker: Worker) -> None:
    assert worker.process.stdin is not None
    # It may have refused the line and closed its end before the last byte was written.
    with suppress(BrokenPipeError):
        worker.process.stdin.write(b"x" * (9 << 20))
        worker.process.stdin.flush()
    refused = worker.hear("refused")
    assert "at most" in refused["message"]
    assert worker.process.wait(30) == 0
