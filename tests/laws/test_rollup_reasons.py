"""What to do about a rollup's trouble is shown, however long the trouble itself is.

Messages of the builder, of the adapter and of the lane are written as "the problem; the remedy".
All of them are read from the sources here, and filled with operands that are as long as can be.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.kinds.rollup.test_views import teller, view_of
from tests.lanes.bundle.stage import Stage, queued

import laneway
from laneway.builder.orders import IF_IT_STAYS, carried_out
from laneway.builder.shelf import REMEDY
from laneway.core.errors import BuildFailed
from laneway.core.limits import REASON_BYTES_MAX
from laneway.core.reason import clip
from laneway.lanes.bundle import show
from laneway.lanes.bundle.limits import (
    REASON_KEPT_BYTES_MAX,
    STUCK_TRIES_MIN,
    TROUBLE_BYTES_MAX,
    WAITS_BYTES_MAX,
)
from laneway.lanes.bundle.values import BlockNotBuilt, BlocksNotified, BuildBlock
from laneway.ports import IntentView

ROOMS = ("builder", "chains/jam", "engine/bundle", "lanes/bundle", "rollups")
BOUNDS = (REASON_BYTES_MAX, REASON_KEPT_BYTES_MAX, WAITS_BYTES_MAX, TROUBLE_BYTES_MAX)
LONG = "/a/very/long/path" * 20
SQL = ("SELECT ", "INSERT ", "UPDATE ", "DELETE ", " = ?")


def filled(node: ast.AST) -> str:
    """The text of a literal with operands in it: long ones in the problem, short ones after it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    assert isinstance(node, ast.JoinedStr)
    text = ""
    for one in node.values:
        if isinstance(one, ast.Constant):
            text += str(one.value)
        elif isinstance(one, ast.FormattedValue) and ast.unparse(one.value) == "REMEDY":
            text += REMEDY
        else:
            text += "1234567" if "; " in text else LONG
    return text


def literals(tree: ast.Module) -> Iterator[str]:
    """All texts of a module but its docstrings."""
    passed: dict[int, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed[id(node.value)] = None
        elif isinstance(node, ast.JoinedStr):
            passed |= {id(one): None for one in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in passed:
            yield filled(node)


def messages() -> list[str]:
    home = Path(laneway.__file__).parent
    files = [file for room in ROOMS for file in sorted((home / room).rglob("*.py"))]
    found = [text for file in files for text in literals(ast.parse(file.read_text()))]
    return [
        text
        for text in dict.fromkeys(found)
        if text.partition("; ")[2] and not any(word in text for word in SQL)
    ]


def test_no_message_loses_its_remedy_to_a_bound() -> None:
    known = messages()
    assert len(known) >= 15, "the sources are read"
    for text in known:
        problem, _, remedy = text.rpartition("; ")
        for bytes_max in BOUNDS:
            shown = clip(f"{LONG}: {problem}; {remedy}", bytes_max)
            assert shown.endswith(f"; {remedy}"), (bytes_max, shown)


TROUBLE = f"the chain has another block 7 than the builder: {LONG} is of another chain; {REMEDY}"


def test_the_remedy_of_a_block_that_cannot_be_built_is_shown_everywhere() -> None:
    stage = Stage()
    (name,) = stage.accept(1)
    stage.pull()
    stage.not_built(TROUBLE)
    view = IntentView(stage.accepted[name], None, open=True)
    tx = teller(stage).tx(view, view_of(stage))
    assert tx.reason.endswith(REMEDY)
    assert show.describe(stage.head).reason.endswith(REMEDY)


@pytest.mark.parametrize("trouble", ["an oracle is away", LONG])
def test_what_rules_call_passing_is_shown_everywhere_with_what_to_do(trouble: str) -> None:
    def away() -> None:
        raise BuildFailed(trouble)

    with pytest.raises(BuildFailed) as failed:
        carried_out(away)
    stage = Stage()
    (name,) = stage.accept(1)
    stage.pull()
    for _ in range(STUCK_TRIES_MIN):
        stage.tick(60_000)
        stage.not_built(str(failed.value))
    view = IntentView(stage.accepted[name], None, open=True)
    head = show.read_head(stage.head)
    shown = [teller(stage).tx(view, view_of(stage)).reason, show.describe(stage.head).reason]
    for reason in (*shown, show.stuck(head)):
        assert reason.endswith(IF_IT_STAYS)


def test_the_remedy_of_a_lane_that_halted_is_shown() -> None:
    stage = Stage(block_txs_max=1)
    stage.accept(3)
    for _ in range(3):
        stage.pull()
        (order,) = stage.take(BuildBlock)
        stage.post(BlockNotBuilt(stage.now_ms, order.slot, order.order, TROUBLE, final=True))
    state = show.describe(stage.head)
    assert state.word == "halted"
    assert state.reason.endswith("; fix the builder, and resume the lane")
    assert REMEDY in state.reason
    assert all(REMEDY in one.reason for one in stage.results.values())


@pytest.mark.parametrize("ear", ["builder", "user"])
def test_the_remedy_of_callbacks_that_fail_is_shown(ear: str) -> None:
    stage = queued()
    stage.to_slot(2_500)
    stage.slot(stage.hash_of(1))
    stage.to_slot()
    stage.chain.produce()
    stage.look()
    if ear == "user":
        stage.note()
    last = stage.lane.head.hearing or stage.lane.head.telling
    stage.post(BlocksNotified(stage.now_ms, last, False, TROUBLE, ear))
    assert show.unheard(stage.lane.head).endswith(REMEDY)
