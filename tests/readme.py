"""README.md as a person follows it: files are saved, commands are typed, in order, in one shell.

What a block is says the word behind its fence: `sh` is typed line by line, `toml` and `python` are
saved under the name in their first line, and a Python file is then run. `text` is what a command
prints. A block below `<!-- not run: reason -->` is not typed. After a line that ends in `&` the
next one waits until it is ready, and one whose comment says so is ended with Ctrl-C.

Nothing is changed but ports, which other programs of this machine may use: those printed as
`127.0.0.1:PORT` or `--port PORT`, and the server's own, by its setting and `LANEWAY_URL`.
"""

import os
import queue
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from tests.free_ports import free_port

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "README.md").read_text()
FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>.+?) -->\n\n)?```(?P<kind>\w*)\n(?P<text>.*?)```", re.DOTALL
)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
EXTRA = re.compile(r"pip install .*'laneway\[(\w+)\]'")
READY = {
    "laneway up": "access ",
    "laneway devnet evm": "Listening on ",
    "laneway devnet co": "listening on ",
    "redis-server": "Ready to accept connections",
}
"""What a program that goes on prints when it can be used, by how its line begins."""
PORT = re.compile(r"(127\.0\.0\.1:|--port )(\d+)")
SERVER_PORT = "8547"
INTERRUPTED = 128 + signal.SIGINT
LINE_S_MAX = 120.0
END_S_MAX = 90.0


class Block(NamedTuple):
    section: str
    kind: str
    text: str
    extra: str | None
    """The extra that its section installed before, or installs here."""
    not_run: str | None
    """Why it is not typed."""

    def lines(self) -> list[str]:
        """Commands, each with those lines that it is continued on."""
        return [line for line in self.text.replace("\\\n", "").splitlines() if line.strip()]


def blocks() -> list[Block]:
    found: list[Block] = []
    parts = HEADING.split(PAGE)
    for name, text in zip(["", *parts[1::2]], parts[0::2], strict=True):
        extra: str | None = None
        for fence in FENCE.finditer(text):
            installed = EXTRA.search(fence["text"])
            extra = extra if installed is None else installed[1]
            found.append(Block(name, fence["kind"], fence["text"], extra, fence["reason"]))
    return found


class Reader:
    """A shell and what it prints. Everything that it started is ended with it."""

    def __init__(self, folder: Path, environment: Path, **more: str) -> None:
        """`environment` is the virtual environment that `make demo` would have made here."""
        self._ports: dict[str, int] = {}
        (folder / ".venv").symlink_to(environment)
        server = self._port(SERVER_PORT)
        kept = {name: value for name, value in os.environ.items() if "LANEWAY" not in name}
        own = {"LANEWAY_SERVER__PORT": str(server), "LANEWAY_URL": f"http://127.0.0.1:{server}"}
        (folder / "tmp").mkdir()
        own |= {"TMPDIR": str(folder / "tmp"), "COLUMNS": "200"}
        # The lines come through a pipe of their own, so that no command can read them.
        script, self._keyboard = os.pipe()
        # A run in the background ignores Ctrl-C, and so would all that it starts.
        self.process = subprocess.Popen(
            ["env", "--default-signal=INT", "bash", f"/dev/fd/{script}"],
            cwd=folder, env=kept | own | more, pass_fds=[script], start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        os.close(script)
        self._heard: queue.Queue[str] = queue.Queue()
        self._count = 0
        self._deadline_s = 0.0
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._keyboard)
        deadline_s = time.monotonic() + END_S_MAX
        for number in (signal.SIGTERM, signal.SIGKILL):
            while self._signal_all(number) and time.monotonic() < deadline_s:
                time.sleep(0.05)
        self.process.wait(END_S_MAX)

    def _signal_all(self, number: signal.Signals) -> bool:
        """Whether anything of the shell's session was left to be ended."""
        self.process.poll()
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return False
        return True

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said:
            for line in said:
                self._heard.put(line)

    def _port(self, printed: str) -> int:
        if printed not in self._ports:
            self._ports[printed] = free_port()
        return self._ports[printed]

    def elsewhere(self, text: str) -> str:
        """The same text with ports that nobody uses here."""
        return PORT.sub(lambda found: f"{found[1]}{self._port(found[2])}", text)

    def follow(self, block: Block) -> str:
        """Do what a block says; what was printed meanwhile."""
        if block.kind == "sh":
            return "".join(self.type(line) for line in block.lines())
        name = block.text.partition("\n")[0].removeprefix("# ")
        assert re.fullmatch(r"\w+\.(py|toml)", name), f"a file needs its name first: {name}"
        (self.folder() / name).write_text(self.elsewhere(block.text))
        return self.type(f"python {name}") if block.kind == "python" else ""

    def folder(self) -> Path:
        return Path(os.readlink(f"/proc/{self.process.pid}/cwd"))

    def type(self, line: str) -> str:
        """One line, to its end; it must succeed."""
        self._count += 1
        mark = f"line {self._count} ended with"
        command, _, comment = self.elsewhere(line).partition(" # ")
        os.write(self._keyboard, f"{command}\nended=$?; echo; echo '{mark}' $ended\n".encode())
        said, status = "", None
        self._deadline_s = time.monotonic() + LINE_S_MAX
        while status is None:
            heard = self._next(line, said)
            if heard.startswith(mark):
                status = int(heard.removeprefix(mark))
                break
            said += heard
            if heard.strip() and "Ctrl-C" in comment:
                self._interrupt(command.split()[0])
        if command.rstrip().endswith("&"):
            (ready,) = [words for begin, words in READY.items() if command.startswith(begin)]
            while ready not in said:
                said += self._next(line, said)
        wanted = INTERRUPTED if "Ctrl-C" in comment else 0
        assert status == wanted, f"{line}\nended with {status}:\n{said}"
        assert "Traceback" not in said, f"{line}\n{said}"
        return said

    def _next(self, line: str, said: str) -> str:
        try:
            return self._heard.get(timeout=max(0.0, self._deadline_s - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"{line}\nwas not done in {LINE_S_MAX} s:\n{said}") from None

    def _interrupt(self, name: str) -> None:
        pid = self.process.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if Path(f"/proc/{child}/comm").read_text().strip() == name:
                os.kill(int(child), signal.SIGINT)
