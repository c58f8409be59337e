"""Draws what the documents show from the code: `docs.py [--check]`.

docs/contract-lane.md, eoa-lane.md and sequence-lane.md (transitions), configuration.md (settings),
docs/cli.md (commands), docs/api.md (the REST API), and what stands between marks in rollup-lane.md
and write-a-kind.md.
--check changes nothing and fails when a document is not what the code says.
"""

import argparse
import ast
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripts import bundle_charts, sequence_charts
from scripts.charts import SEEDS, drawn, observed
from scripts.references import api, cli, configuration, field_docs
from scripts.sequence_charts import observed_sequence

ROOT = Path(__file__).parent.parent
CONTRACT = ROOT / "src/laneway/lanes/contract"
EOA = ROOT / "src/laneway/lanes/eoa"
SEQUENCE = ROOT / "src/laneway/lanes/sequence"
BUNDLE = ROOT / "src/laneway/lanes/bundle"
COMMON = ROOT / "src/laneway/lanes/common"
COUNTER = ROOT / "tests/foreign/counter"
EVERY = "every event, then"
UNDECIDING = ("fold.py", "draft.py", "released.py")
"""Files of a lane that follow decisions, or only read."""
FROM_CODE = "<!-- Drawn from the code by `make docs`; edit scripts/docs.py instead. -->\n\n"


def functions(path: Path) -> dict[str, ast.FunctionDef]:
    """By name. `v.` and `r.` stand for the lane's own values and records, and are left out."""
    tree = ast.parse(re.sub(r"\b[rv]\.(?=[A-Z])", "", path.read_text()))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def values(*folders: Path) -> list[ast.stmt]:
    """What stands in the files that hold the values of these lanes."""
    files = [folder / name for folder in folders for name in ("values.py", "records.py")]
    return [node for file in files if file.exists() for node in ast.parse(file.read_text()).body]


def family(lane: Path, name: str) -> list[str]:
    """The classes of one family of values, in the order of their file."""
    for node in values(lane):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            assert node.value is not None
            return [part.strip(" ()\n") for part in ast.unparse(node.value).split("|")]
    raise SystemExit(f"{lane} has no family {name}")


def built(start: ast.AST, known: dict[str, ast.FunctionDef], wanted: list[str]) -> list[str]:
    """Which values an expression builds, itself or through the functions it calls."""
    found: list[str] = []
    seen: set[str] = set()
    reading: list[ast.AST] = [start]
    waiting: list[str] = []
    while reading or waiting:
        if not reading:
            name = waiting.pop(0)
            if name in seen or name not in known:
                continue
            seen.add(name)
            reading.append(known[name])
        for node in ast.walk(reading.pop()):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called = node.func.id
                if called in wanted and called not in found:
                    found.append(called)
                waiting.append(called)
    return sorted(found, key=wanted.index)


def deciding(lane: Path) -> dict[str, dict[str, ast.FunctionDef]]:
    """The functions of a lane by their files, before them those that all lanes share."""
    files = {"common": functions(COMMON / "commands.py")}
    for path in sorted(lane.glob("*.py")):
        if path.name not in UNDECIDING:
            files[path.name] = functions(path)
    return files


Decisions = list[tuple[str, str, list[str], list[str]]]


def decisions(lane: Path, judge: str) -> Decisions:
    """For each event: the function that judges it, and the records and effects it may give."""
    known = {name: one for found in deciding(lane).values() for name, one in found.items()}
    rows = []
    for case in next(n for n in ast.walk(known[judge]) if isinstance(n, ast.Match)).cases:
        if not isinstance(case.pattern, ast.MatchClass):
            continue
        event = ast.unparse(case.pattern.cls)
        returned = case.body[0]
        assert isinstance(returned, ast.Return)
        assert isinstance(returned.value, ast.Call)
        called = ast.unparse(returned.value.func)
        records = built(returned, known, family(lane, "Record"))
        effects = built(returned, known, family(lane, "Effect"))
        rows.append((event, judge if called == "decided" else called, records, effects))
    return rows


def flowchart(rows: Decisions, answers: dict[str, str], who: str) -> list[str]:
    """Events come in, effects go out, and the answer to an effect is an event."""
    lines = ["```mermaid", "flowchart LR"]
    lines += ["  door([submit]) --> IntentsOffered", "  operator([operator]) --> CommandReceived"]
    lines += ["  clock([deadline]) --> TimerFired"]
    for event, judge, _, effects in rows:
        lines.append(f"  {event} --> {judge}")
        lines += [f"  {judge} --> {effect}{{{{{effect}}}}}" for effect in effects]
    return [*lines, *(f"  {one} -. {who} .-> {event}" for one, event in answers.items()), "```"]


def tables(lane: Path, rows: Decisions) -> list[str]:
    lines = ["", "What each event may make true, and what it may order:", ""]
    lines += ["| event | judged by | records | effects |", "|---|---|---|---|"]
    for event, judge, records, effects in rows:
        cells = [", ".join(f"`{name}`" for name in names) or "–" for names in (records, effects)]
        named = event if event == EVERY else f"`{event}`"
        lines.append(f"| {named} | `{judge}` | {cells[0]} | {cells[1]} |")
    lines += ["", "What each record says:", "", "| record | meaning |", "|---|---|"]
    return [
        *lines,
        *(f"| `{name}` | {meaning(lane, name)} |" for name in family(lane, "Record")),
    ]


def contract_lane() -> str:
    rows = decisions(CONTRACT, "judge")
    answers = {
        "ReadHeight": "HeightRead",
        "Execute": "ExecutionReturned",
        "FindExecution": "SearchReturned",
    }
    lines = ["# The contract lane", "", FROM_CODE.strip(), ""]
    lines += flowchart(rows, answers, "host answers")
    lines += tables(CONTRACT, rows)
    lines += ["", "When our block is not on the chain, the first row that fits fires:", "", "```"]
    lines += [line.strip() for line in absence_table()]
    lines += ["```", ""]
    return "\n".join(lines)


INTENT_STATES = (
    *("pending", "claimed", "borrowed", "submitted", "included", "returned"),
    *("confirmed", "reverted", "refused", "cancelled", "expired"),
)
NONCE_STATES = ("unused", "bound", "recycled", "no-op", "used")


def eoa_lane() -> str:
    intents, nonces = observed()
    rows = decisions(EOA, "decide")
    answers = {
        "MakeAttempt": "AttemptsMade",
        "SendAttempt": "BroadcastReturned",
        "LookAtChain": "ChainRead",
        "ProveNonce": "NonceProven",
    }
    lines = ["# The account lane", "", FROM_CODE.strip(), ""]
    lines += ["What its operator does is in [eoa-operations.md](eoa-operations.md).", ""]
    lines += ["## An intent", "", *EOA_INTENT, ""]
    lines += [f"| {' | '.join(row)} |" for row in EOA_STATES] + [""]
    lines += drawn(intents, INTENT_STATES, INTENT_STATES[-5:])
    lines += ["", "## A nonce", "", *EOA_NONCE, ""]
    lines += drawn(nonces, NONCE_STATES)
    lines += ["", "## Events, records, effects", ""]
    lines += flowchart(rows, answers, "the world answers")
    lines += tables(EOA, rows)
    return "\n".join(lines)


EOA_STATES = (
    ("here", "API status", "seed 002", "means"),
    ("---", "---", "---", "---"),
    ("pending", "`queued`", "Pending", "durable, without a nonce"),
    ("claimed", "`queued`", "–", "it has a nonce, its bytes are being made"),
    ("borrowed", "`signed`", "Borrowed", "its bytes are durable; no node is known to have them"),
    ("submitted", "`submitted`", "Submitted", "some node has them"),
    ("included", "`included`", "Confirmed", "mined; a reorg may still take it back"),
    ("returned", "`queued`", "Pending (Nack)", "proven dead; it keeps its order and tries again"),
)
EOA_INTENT = (
    f"Every arrow was seen in {len(SEEDS)} simulated worlds with crashes, lost answers, reorgs and "
    "operators; it names the records that go that way.",
    "`BumpOrdered (intent)` is a gas bump or a replacement, `BumpOrdered (cancel)` a no-op over "
    "the intent's own attempts by someone's word, `BumpOrdered (noop)` one because no node will "
    "ever take them: each is a further attempt at the same nonce, and whichever lands decides.",
    "What is final where it is first seen is settled at once, without having been `included`.",
    "A silent or doubtful answer makes no arrow: unknown counts as sent.",
)
EOA_NONCE = (
    "A nonce is free again (recycled) only when every node it was offered to refused every attempt "
    "of it for good.",
    "Free ones are given out before new ones; a no-op fills what nobody may take, so that no gap "
    "stays.",
    "`bound` to `unused`: nothing of it or above it was ever offered, so those above move down "
    "and the optimistic nonce with them.",
    "`used` without having been bound is someone else's transaction of the same account.",
)


def sequence_lane() -> str:
    intents, nodes = observed_sequence()
    rows = decisions(SEQUENCE, "judge")
    answers = {
        "MakeAttempt": "AttemptsMade",
        "OfferToNode": "OfferReturned",
        "LookAtNode": "NodeLooked",
        "ProveSequence": "SequenceProven",
    }
    lines = ["# The sequence lane", "", FROM_CODE.strip(), ""]
    lines += ["What its operator does is in [sequence-operations.md](sequence-operations.md).", ""]
    lines += ["## An intent", "", *SEQUENCE_INTENT, ""]
    lines += [f"| {' | '.join(row)} |" for row in SEQUENCE_STATES] + [""]
    lines += drawn(intents, sequence_charts.INTENT_STATES, sequence_charts.INTENT_STATES[-6:])
    lines += ["", "## A node, and recovery mode", "", *SEQUENCE_NODE, ""]
    lines += drawn(nodes, sequence_charts.NODE_STATES)
    lines += ["", "## Events, records, effects", ""]
    lines += flowchart(rows, answers, "the world answers")
    known = functions(SEQUENCE / "recovery.py")
    ended = built(known["with_recoveries"], known, family(SEQUENCE, "Record"))
    lines += tables(SEQUENCE, [*rows, (EVERY, "with_recoveries", ended, [])])
    return "\n".join(lines)


SEQUENCE_STATES = (
    ("here", "API status", "seed 003", "means"),
    ("---", "---", "---", "---"),
    ("queued", "`queued`", "Queued", "durable, without a sequence; nothing is signed"),
    ("claimed", "`queued`", "–", "it has a sequence, its bytes are being made"),
    ("signed", "`signed`", "–", "its bytes are durable; no node is known to have them"),
    ("pending", "`submitted`", "Pending", "some node took them"),
)
SEQUENCE_INTENT = (
    f"Every arrow was seen in {len(sequence_charts.WORLDS)} simulated worlds with crashes, lost "
    "answers, evictions, restarts, fees that rise and operators; it names the records that go that "
    "way.",
    "`pending` to `claimed` is a signature that ended with its timeout height (`AttemptEnded`), or "
    "an intent that moves to the sequence below (`SlotFellOut`): nothing of it can land any more, "
    "and only then is it signed again.",
    "An eviction, a rejection and an unknown status make no arrow here: the same bytes are offered "
    "again.",
)
SEQUENCE_NODE = (
    "Each node has a cursor of its own; these are its states.",
    "The lane is in recovery mode while no node is `in_step`: nothing new is signed.",
    "`waits_for_a_block`: the node said something that its next block may change, and is not "
    "believed before; `waits_a_while`: it did not answer; `catches_up`: it is offered the same "
    "bytes again, lowest sequence first, until it has all that it was ever offered.",
    "Arrows name what the node said, or the record that ended it.",
)


def rollup_lane() -> str:
    """Most of this page is prose; what the code says stands between marks."""
    from laneway.lanes.bundle.settings import BundleSettings

    page = (ROOT / "docs/rollup-lane.md").read_text()
    shown = tables(BUNDLE, drafted(BUNDLE))[3:]
    parts = {
        "states": bundle_charts.states(),
        "cores": bundle_charts.cores(),
        "signals": bundle_charts.signals(),
        "parameters": bundle_charts.parameters(field_docs(BundleSettings)),
        "records": shown,
    }
    return bundle_charts.filled(page, parts)


def write_a_kind() -> str:
    """Prose, and between marks the files of the kind that tests/foreign runs, under the name that
    its distribution has."""
    page = (ROOT / "docs/write-a-kind.md").read_text()
    parts = {
        path.stem: ["```python", *distributed(path.read_text()).splitlines(), "```"]
        for path in sorted(COUNTER.glob("*.py"))
        if path.stem != "__init__"
    }
    return bundle_charts.filled(page, parts)


def distributed(source: str) -> str:
    return source.replace("tests.foreign.counter", "laneway_counter")


def drafted(lane: Path) -> Decisions:
    """The same of a lane whose decisions are drafts: each event is judged, and then all that is due
    is done."""
    files = deciding(lane)
    known = {name: one for found in files.values() for name, one in found.items()}
    judges: list[tuple[str, str]] = []
    for case in next(n for n in ast.walk(known["decide"]) if isinstance(n, ast.Match)).cases:
        calls = [n for n in ast.walk(case) if isinstance(n, ast.Call) and given_a_draft(n)]
        if isinstance(case.pattern, ast.MatchClass) and len(calls) == 1:
            judges.append((ast.unparse(case.pattern.cls), ast.unparse(calls[0].func)))
    rows: Decisions = []
    for event, judge in [*judges, (EVERY, "drive")]:
        # Two files may have a function of one name: each means its own.
        near = known | next(found for found in files.values() if judge in found)
        made = [built(near[judge], near, family(lane, name)) for name in ("Record", "Effect")]
        rows.append((event, judge, made[0], made[1]))
    return rows


def given_a_draft(call: ast.Call) -> bool:
    return bool(call.args) and ast.unparse(call.args[0]) == "draft"


def absence_table() -> list[str]:
    for path in sorted(CONTRACT.glob("*.py")):
        judged = functions(path).get("absence_row")
        if judged is not None:
            text = ast.get_docstring(judged) or ""
            return [line for line in text.splitlines() if line[1:3] == "  "]
    raise SystemExit("absence_row has no table")


def meaning(lane: Path, name: str) -> str:
    for node in values(lane, COMMON):
        if isinstance(node, ast.ClassDef) and node.name == name:
            text = ast.get_docstring(node)
            if text:
                return " ".join(text.partition("\n\n")[0].split())
            fields = [ast.unparse(f.target) for f in node.body if isinstance(f, ast.AnnAssign)]
            return "its " + ", ".join(fields) if fields else "–"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    checking = parser.parse_args().check
    stale = []
    documents = {
        "contract-lane": contract_lane,
        "eoa-lane": eoa_lane,
        "sequence-lane": sequence_lane,
        "rollup-lane": rollup_lane,
        "write-a-kind": write_a_kind,
        "configuration": configuration,
        "cli": cli,
        "api": api,
    }
    for name, draw in documents.items():
        path = ROOT / f"docs/{name}.md"
        text = draw().rstrip() + "\n"
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.name)
        if not checking:
            path.write_text(text)
            print(f"wrote docs/{path.name}")
    if stale and checking:
        print(f"not what the code says: {', '.join(stale)}; run `make docs`")
    return 1 if stale and checking else 0


if __name__ == "__main__":
    raise SystemExit(main())
