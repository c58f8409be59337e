"""The rules of the style guide that a linter cannot say."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from scripts.pure import pure_files

ROOT = Path(__file__).parent.parent
HOMES = (ROOT / "src/laneway", ROOT / "bench/src")
SOURCES = sorted(path for home in HOMES for path in home.rglob("*.py"))
PURE_FILES = pure_files()
FORBIDDEN_IMPORTS = {
    "asyncio", "datetime", "logging", "os", "pathlib", "random", "secrets", "socket",
    "subprocess", "sys", "tempfile", "threading", "time", "uuid", "aiohttp", "apsw",
}  # fmt: skip
"""No clock, network, disk, thread, randomness or logging in a pure package."""

FORBIDDEN_NAMES = re.compile(r"\b(\w*(manager|handler|helper|utils)\w*|process_[a-z]+)\b", re.I)
BROAD_EXCEPTS = {
    "builder/jobs.py": 1,
    "builder/orders.py": 1,
    "chains/contract_callable.py": 3,
    "core/reason.py": 1,
    "engine/bundle/rollup.py": 1,
    "engine/effects.py": 2,
    "engine/listeners.py": 3,
    "engine/reactor.py": 1,
    "kinds/installed.py": 1,
    "signers/kms.py": 1,
}
"""The supervisors of turns and effects, and the places that run a user's own code: a callable
that is a host, kinds of other distributions, calls to a key store, rules and callbacks of a
rollup, exceptions that are shown, and listeners, whose bugs must not stop the engine."""


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(path)))


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name(path)}:{node.lineno} {node.name}", node


def name(path: Path) -> str:
    (home,) = [home for home in HOMES if path.is_relative_to(home)]
    return str(path.relative_to(home))


def committed_files() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).is_file()]


def test_a_module_is_at_most_500_lines_and_a_function_at_most_60() -> None:
    modules = [name(path) for path in SOURCES if path.read_text().count("\n") > 500]
    long = [at for at, node in functions() if (node.end_lineno or 0) - node.lineno >= 60]
    assert (modules, long) == ([], [])


def test_a_module_opens_with_what_it_holds() -> None:
    assert [name(path) for path in SOURCES if not ast.get_docstring(parsed(path))] == []


def test_a_function_takes_at_most_six_arguments_or_keywords_only() -> None:
    given = {
        at: [one.arg for one in node.args.args if one.arg not in ("self", "cls")]
        for at, node in functions()
    }
    assert [f"{at} takes {len(names)}" for at, names in given.items() if len(names) > 6] == []


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_a_pure_module_imports_nothing_that_acts() -> None:
    offenders = []
    for path in PURE_FILES:
        # The store's answers are futures: ports names the type and makes none.
        allowed = {"asyncio"} if path.match("ports/store.py") else set()
        forbidden = (imported(path) & FORBIDDEN_IMPORTS) - allowed
        offenders += [f"{name(path)} imports {one}" for one in sorted(forbidden)]
    assert offenders == []


def is_set(looped: ast.expr) -> bool:
    return isinstance(looped, ast.Set | ast.SetComp) or (
        isinstance(looped, ast.Call)
        and isinstance(looped.func, ast.Name)
        and looped.func.id in ("set", "frozenset")
    )


def test_a_pure_module_iterates_over_no_set() -> None:
    loops = [
        (path, node.iter)
        for path in PURE_FILES
        for node in nodes(path)
        if isinstance(node, ast.For | ast.comprehension)
    ]
    assert loops
    assert [f"{name(path)}:{looped.lineno}" for path, looped in loops if is_set(looped)] == []


def test_names_say_what_a_thing_is() -> None:
    overrides = ("set_exception_handler", "call_exception_handler")
    named = [
        f"{name(path)}:{node.lineno} {node.name}"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name not in overrides and FORBIDDEN_NAMES.fullmatch(node.name)
    ]
    assert named == []


def test_commands_print_through_one_module() -> None:
    """There foreign text is neutralised; the drawn screens of `top` and `demo` do it themselves."""
    found = [
        f"{name(path)}:{node.lineno}"
        for path in SOURCES
        if name(path).startswith(("cli/", "console/", "demo/", "kinds/"))
        if path.name != "printing.py"
        for node in nodes(path)
        if isinstance(node, ast.Attribute | ast.Name)
        and getattr(node, "attr", getattr(node, "id", "")) in ("echo", "secho", "print")
        and not (isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self._console")
    ]
    assert found == []


def test_an_address_is_printed_by_the_function_that_hides_its_secrets() -> None:
    """An f-string that holds one is a message, a request's target or an address of our own."""
    addresses = ("url", "_url", "ws_url", "conninfo", "upstream", "store_path", "_store_path")
    found = [
        f"{name(path)}:{node.lineno}"
        for path in SOURCES
        if not name(path).startswith(("devnets/", "laneway_bench/", "demo/"))
        for node in nodes(path)
        if isinstance(node, ast.FormattedValue)
        and getattr(node.value, "attr", getattr(node.value, "id", "")) in addresses
        and f"{name(path)} {ast.unparse(node.value)}" not in OWN_ADDRESSES
    ]
    assert found == []


OWN_ADDRESSES = {
    "kinds/contract/host.py store_path": "a file beside the database",
    "client/errors.py self.url": "what shown_url made of it",
    "kinds/evm/devnet.py devnet.url": "of a chain inside this process",
    "kinds/rollup/devnet.py devnet.url": "of a chain inside this process",
    "kinds/rollup/devnet.py store_path": "a file beside the database",
}


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes bugs too. One that only cleans up raises them again."""
    caught = getattr(handler.type, "id", "") if handler.type is not None else "BaseException"
    is_clean_up = any(
        isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler)
    )
    return caught == "Exception" or (caught == "BaseException" and not is_clean_up)


def test_broad_excepts_stand_only_where_they_are_listed() -> None:
    found: dict[str, int] = {}
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.ExceptHandler) and is_broad(node):
                found[name(path)] = found.get(name(path), 0) + 1
    assert found == BROAD_EXCEPTS


def test_every_match_on_a_family_ends_in_assert_never() -> None:
    families = [
        (path, node)
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.Match)
        if any(isinstance(case.pattern, ast.MatchClass) for case in node.cases)
    ]
    assert families
    open_ended = [
        f"{name(path)}:{node.lineno}"
        for path, node in families
        if "assert_never" not in ast.unparse(node.cases[-1])
    ]
    assert open_ended == []


def test_every_bound_has_its_reason() -> None:
    for path in [path for path in SOURCES if path.name == "limits.py"]:
        body = parsed(path).body
        for place, node in enumerate(body):
            if not isinstance(node, ast.Assign):
                continue
            following = body[place + 1 :]
            # Two bounds that belong together may share the reason that follows them.
            reason = next((n for n in following if not isinstance(n, ast.Assign)), None)
            assert isinstance(reason, ast.Expr), f"{name(path)}:{node.lineno}"
            assert isinstance(reason.value, ast.Constant), f"{name(path)}:{node.lineno}"


def test_nothing_names_a_machine_or_a_registry() -> None:
    hosts = re.compile("npm" r"js\.|py" r"pi\.o|python" r"hosted|deb" r"\.debian")
    paths = re.compile(r"(?<![\w.])/(?:wo" r"rk|fa" r"rm|ro" r"ot)/")
    for path in committed_files():
        if path.suffix in {".py", ".md", ".toml", ".sh", ".yml", ".js", ".html", ".sql", ".txt"}:
            text = path.read_text()
            assert not hosts.search(text), path
            assert not paths.search(text), path


def test_nothing_is_left_to_do_without_an_issue() -> None:
    for path in committed_files():
        if path.suffix == ".py":
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if re.search(r"#.*\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", line):
                    assert re.search(r"issue \d+", line), f"{path}:{number}"


def test_prose_has_one_sentence_a_line() -> None:
    for path in committed_files():
        if path.suffix != ".md" or path.name == "mutations.md":
            continue
        fenced = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.lstrip().startswith(("```", "~~~")):
                fenced = not fenced
            if fenced or line.startswith(("|", "    ")):
                continue
            assert not re.search(r"[a-z)`]\. [A-Z][a-z]", line), f"{path.name}:{number}: {line}"


def test_laneway_refuses_to_run_without_its_assertions() -> None:
    command = [str(ROOT / ".venv/bin/python"), "-O", "-m", "laneway", "--version"]
    import sys

    command[0] = sys.executable
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "-O" in ran.stderr


DIALECT = re.compile(
    r"\b(whoever|mend(s|ed)?|so many|graves?|by halves|in thought|letter form|tellers?|hears?|heard"
    r"|told)\b",
    re.I,
)
"""Words of STYLE §4 that cost a second reading."""


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a module, without what they quote as code."""
    for node in nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno, re.sub(r"`[^`]*`", "", str(node.value.value))
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if (comment := re.search(r"#\s.*", line)) is not None:
            yield number, comment[0]


def test_docstrings_and_comments_are_read_once() -> None:
    found = [
        f"{name(path)}:{line} {word[0]}"
        for path in SOURCES
        for line, text in prose(path)
        for word in DIALECT.finditer(text)
    ]
    assert found == []


SAME_NOUN = {
    "Conflict": "the store's answer, and the client's error for it: another body has the key",
    "CosmosBlob": "as callers write it, and as an intent keeps it",
    "EvmAuthorization": "as callers write it, and as an intent keeps it",
    "EvmBlobs": "as callers write it, and as an intent keeps it",
    "Lane": "a lane in memory, and what the API shows of it",
    "Rollup": "a rollup of this process, and what the API shows of it",
}
"""Class names that stand twice because they are two forms of one thing."""


def class_places() -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name(path))
    return places


def test_one_class_name_has_one_meaning() -> None:
    """Each discipline in `lanes/` has its own form of slot, attempt and record, under one name."""
    repeated = {
        called: places
        for called, places in class_places().items()
        if len([place for place in places if not place.startswith("lanes/")]) > 1
        or (len(places) > 1 and not all(place.startswith("lanes/") for place in places))
    }
    assert sorted(repeated) == sorted(SAME_NOUN), repeated


KINDS = ("contract", "evm", "cosmos", "rollup", "delivery", "audit")
HOMES_OF_KINDS = (*KINDS, "eoa", "sequence", "bundle", "jam", "ledger", "engine_core")
"""Folders, and files of that name, that carry a kind's name: there it may be known."""
KIND_ASKED = re.compile(r"is_(contract|account|cosmos|rollup|delivery|shown)")


def asks_for_a_kind(node: ast.AST) -> bool:
    """Whether a line asks which kind of lane it has."""
    if isinstance(node, ast.Call):
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
        named = {name for kind in KINDS for name in (kind, f"{kind}:")}
        if called == "isinstance" and len(node.args) == 2:
            return re.search(r"\bNew\w*Tx\b", ast.unparse(node.args[1])) is not None
        return KIND_ASKED.fullmatch(called) is not None or (
            called in ("startswith", "removeprefix") and any(text in named for text in texts)
        )
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        names = [getattr(side, "attr", getattr(side, "id", "")) for side in sides]
        values = [side.value for side in sides if isinstance(side, ast.Constant)]
        is_none = any(value is None for value in values) and any(name in KINDS for name in names)
        return is_none or any(isinstance(v, str) and v in KINDS for v in values)
    return False


def test_no_line_outside_a_kinds_own_folders_asks_which_kind_it_has() -> None:
    found = [
        f"{name(path)}:{node.lineno} {ast.unparse(node)}"
        for path in SOURCES
        if not name(path).startswith(("demo/", "laneway_bench/"))
        and not set(HOMES_OF_KINDS) & {*Path(name(path)).parts, path.stem}
        for node in nodes(path)
        if isinstance(node, ast.expr) and asks_for_a_kind(node)
    ]
    assert found == []
