"""The pipe to EELS, which runs in the environment `oracles` (`make` says how it is made)."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO, Any

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).parent / "eels.py"
ENVIRONMENT = "LANEWAY_ORACLES"
"""Names another folder of the environment than .venv-oracles."""
ANSWER_S_MAX = 600.0


def python() -> Path | None:
    """The interpreter of the environment, if it was made."""
    folder = Path(os.environ.get(ENVIRONMENT, ROOT / ".venv-oracles"))
    found = folder / "bin/python"
    return found if found.exists() else None


class Eels:
    """Cases go in, answers come out, in the same order; several may be under way."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._into = process.stdin
        self._answers: Queue[str] = Queue()
        # Somebody has to read while we write, or both ends wait for the other.
        self._reader = Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._reader.start()

    def _read(self, out: IO[str]) -> None:
        for line in out:
            self._answers.put(line)
        self._answers.put("")

    def send(self, request: dict[str, Any]) -> None:
        self._into.write(json.dumps(request) + "\n")
        self._into.flush()

    def receive(self) -> dict[str, Any]:
        line = self._answers.get(timeout=ANSWER_S_MAX)
        if not line:
            raise RuntimeError("the oracle has ended; its last words are above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.send(request)
        return self.receive()


@contextmanager
def eels() -> Iterator[Eels]:
    interpreter = python()
    if interpreter is None:
        raise FileNotFoundError("no oracles: run `sh scripts/setup.sh .venv-oracles oracles`")
    process = subprocess.Popen(
        [str(interpreter), str(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    try:
        yield Eels(process)
    finally:
        process.kill()
        process.wait()
