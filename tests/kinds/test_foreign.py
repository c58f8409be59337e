"""A kind of another distribution has its settings, its findings and its commands."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from tests.kinds.toy import installed

from laneway.cli.app import app, run
from laneway.client.blocking import Client
from laneway.client.http import BlockingWire
from laneway.client.retries import Ask, ServerAnswer
from laneway.kinds.command_line import command_line, tx_line
from laneway.kinds.config import ConfigError
from laneway.kinds.kind import Kind
from laneway.kinds.registry import kinds
from laneway.kinds.worlds import register_worlds
from laneway.sim.kinds import names
from laneway.wire.values import Tx
from laneway.wiring.config import load
from laneway.wiring.node_doctor import examine_nodes

TOML = '[play]\nspeed = 5\n[[toys]]\nname = "LANEWAY_TOY"\nnode = "http://u:p@h/x"\n'


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    installed(monkeypatch, "ToyKind", "PlainKind")
    yield
    kinds.cache_clear()


def test_its_sections_and_tables_are_those_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "laneway.toml").write_text(TOML)
    found = load(None, {"LANEWAY_PLAY__SECRET": "hidden", "LANEWAY_TOY": "x", "LANEWAY_TOI": "y"})
    assert (found.config.play.speed, found.config.toys[0].name) == (5, "LANEWAY_TOY")
    assert found.warnings == ("LANEWAY_TOI is set and not understood, so it has no effect",)
    assert [one.value for one in found.settings() if one.path == "play.secret"] == ["(redacted)"]
    assert load(None, {"LANEWAY_PRESET": "quick"}, {"play.speed": "4"}).config.play.speed == 4
    with pytest.raises(ConfigError, match=r"no toy is so quick - at `\$\.play\.speed`"):
        load(None, {"LANEWAY_PLAY__SPEED": "10"})
    (tmp_path / "laneway.toml").write_text('[play]\nsecret = "hidden"\n')
    with pytest.raises(ConfigError, match="a secret does not belong here; use `secret_file`"):
        load()


def test_its_tables_are_shown_with_what_follows_from_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "laneway.toml").write_text(TOML)
    assert run(["config", "show"]) == 0
    assert capsys.readouterr().out.endswith(
        '[[toys]]\nname = "LANEWAY_TOY"\nnode = "http://(redacted)@h/x"\n# a name of 11 letters\n'
    )
    assert run(["config", "show", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["toys"]
    assert (shown["name"], shown["length"]) == ("LANEWAY_TOY", 11)


def test_the_doctor_asks_it(tmp_path: Path) -> None:
    (tmp_path / "laneway.toml").write_text(TOML)
    assert [one.what for one in examine_nodes(load(), {})] == ["1 toys"]


def test_two_kinds_with_a_section_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "ToyKind", "Twin")
    with pytest.raises(ConfigError, match="two kinds of lanes have a section of this name"):
        load()


def test_a_kind_whose_lanes_nobody_could_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, "Numbered")
    with pytest.raises(ConfigError, match="the kind 'toy2' cannot be used: its name has other"):
        kinds()


def test_two_options_of_one_name_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(monkeypatch, "ToyKind", "Rival")
    assert run(["send", "--help"]) == 2
    assert "its option --hop has the name of --jump, which is another's" in capsys.readouterr().err


def test_a_kind_without_worlds_adds_none() -> None:
    before = names()
    register_worlds()
    assert (names(), Kind().worlds()) == (before, ())


def test_a_kind_that_cannot_be_used_ends_every_command_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(monkeypatch, "Broken")
    assert run(["--help"]) == 2
    assert capsys.readouterr().err.endswith("cannot be used: toy: no battery\n")


def test_its_commands_stand_beside_those_of_all() -> None:
    def typed(*words: str) -> str:
        ran = CliRunner().invoke(app, words, prog_name="laneway")
        assert ran.exit_code == 0, ran.output
        return ran.output

    assert "toy      Play with toys." in typed("--help")
    assert "Serve the queue over HTTP." in typed("--help")
    assert typed("toy") == "played\n"
    assert "wind          Wind a toy up." in typed("lane", "--help")
    assert typed("lane", "wind", "toy:a") == "wound toy:a\n"
    assert "--jump INTEGER" in typed("send", "--help")
    assert "--wound" in typed("up", "--help")


def tx(lane: str, **more: Any) -> Tx:
    return Tx(
        id="tx_1",
        lane=lane,
        status="queued",
        final=False,
        reason="about_to_go_on",
        seq=1,
        accepted_at=datetime(2026, 1, 1, tzinfo=UTC),
        **more,
    )


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a server is sent that takes everything."""
    taken: list[Any] = []

    async def exchange(_wire: object, ask: Ask) -> ServerAnswer:
        taken.append(msgspec.json.decode(ask.body or b""))
        return ServerAnswer(202, {}, msgspec.json.encode(tx(taken[-1]["lane"])))

    monkeypatch.setattr(BlockingWire, "exchange", exchange)
    return taken


def test_it_is_sent_as_json_or_in_its_own_words(bodies: list[Any], tmp_path: Path) -> None:
    assert run(["send", "plain:a", "--payload", '{"n": [1]}', "--key", "k"]) == 0
    assert run(["send", "toy:a", "--jump", "1", "--jump", "2"]) == 0
    (tmp_path / "lines").write_text('{"payload": {"n": 2}}\n{"lane": "toy:b", "jumps": [3]}\n')
    assert run(["send", "plain:a", "--file", "lines"]) == 0
    assert sorted(bodies, key=str) == [
        {"lane": "plain:a", "payload": {"n": 2}},
        {"lane": "plain:a", "payload": {"n": [1]}},
        {"lane": "toy:a", "payload": {"jumps": [1, 2]}},
        {"lane": "toy:b", "payload": {"jumps": [3]}},
    ]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["plain:a", "--payload", "{"], "--payload: Input data was truncated"),
        (["plain:a", "--payload", "[]"], "Expected `object | null`, got `array`"),
        (["plain:a", "--payload", "{}", "--data", "x"], "say --payload alone"),
        (["toy:a", "--data", "x"], "say what the contract is given: --data"),
        (["contract:a", "--data", "x", "--jump", "1"], "a contract has no such option"),
    ],
)
def test_what_cannot_be_sent_is_said_in_one_line(
    bodies: list[Any], words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["send", *words]) == 2
    assert problem in capsys.readouterr().err
    assert bodies == []


def test_a_client_sends_its_request_as_it_is(bodies: list[Any]) -> None:
    until = datetime(2026, 1, 1, tzinfo=UTC)
    client = Client("http://127.0.0.1:1")
    client.submit("toy:a", {"n": 1}, key="k", valid_until=until, priority=2)
    client.send("toy:a", "x", key="k")
    assert bodies == [
        {
            "lane": "toy:a",
            "payload": {"n": 1},
            "valid_until": "2026-01-01T00:00:00Z",
            "priority": 2,
        },
        {"lane": "toy:a", "payload": {"data": "x"}},
    ]


def test_what_it_shows_is_printed_by_its_names() -> None:
    found = tx("plain:a", details={"spring": "wound"}, hash="ab")
    assert ("spring", "wound") in command_line(found.lane).tx_facts(found)
    assert tx_line(found) == "tx_1  queued     plain:a #1  ab  about_to_go_on"
    assert command_line("unknown").tx_facts(tx("unknown"))[0] == ("tx", "tx_1")
    assert b"details" not in msgspec.json.encode(tx("plain:a"))


def test_a_kind_that_takes_over_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for lane in ("plain:a", "unknown:a"):
        assert run(["lane", "adopt", lane, "--db", ":memory:", "--set", "store.durability=memory"])
        assert lane in capsys.readouterr().err
    assert Kind().open_nodes(None, {}) == ()
