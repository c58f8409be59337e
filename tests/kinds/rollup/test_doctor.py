"""What the doctor finds of rollups' chains: each problem by its name, with what to do."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import time_ns
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.jip2_relay import Jip2Relay, Json
from tests.kinds.rollup.stage import run, table

from laneway.builder.shelf import Shelf
from laneway.chains.jam.chain import Jip2Chain
from laneway.core.errors import ChainUnreachable
from laneway.devnets.jam.devnet import JamDevnet, rollup_service
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.values import ModelSetup
from laneway.kinds.findings import Finding
from laneway.kinds.rollup import doctor as rollup_doctor
from laneway.kinds.rollup.doctor import look_at, look_at_all
from laneway.kinds.rollup.kind import RollupKind
from laneway.kinds.rollup.section import BundleSection
from laneway.wire.jip2 import blob

SLOT_MS = 30

pytestmark = pytest.mark.slow

Rewrite = Callable[[str, Json], Json]


def found(*authorizers: bytes, **more: object) -> dict[str, Finding]:
    async def story() -> dict[str, Finding]:
        async with JamDevnet(slot_ms=SLOT_MS, authorizers=authorizers) as devnet:
            nodes = more.pop("nodes", [devnet.url])
            section = table(*nodes, slot_ms=SLOT_MS, **more)  # type: ignore[misc]
            return {one.name: one for one in await look_at(section)}

    given: dict[str, Finding] = run(story)
    return given


def test_a_sound_rollup_is_found_sound() -> None:
    findings = found()
    assert list(findings) == [
        "rollup:1", "rollup:1 service", "rollup:1 cores", "rollup:1 clock",
    ]  # fmt: skip
    assert all(one.ok for one in findings.values())
    assert findings["rollup:1 service"].what == "service 1 is a ledger at block 0"
    assert findings["rollup:1 cores"].what == "2 of the chain's 2 cores"
    assert "no calendar" in findings["rollup:1 clock"].what


def test_a_builders_file_that_no_start_can_open_is_found(tmp_path: Path) -> None:
    path = tmp_path / "builder.db"
    path.write_bytes(b"something else, and not short" * 100)
    findings = found(builder=str(path))
    assert "rollup:1 builder" in findings
    finding = findings["rollup:1 builder"]
    assert not finding.ok
    assert "it is damaged (file is not a database)" in finding.what
    assert "delete it: it is made again" in finding.advice


def test_a_builders_file_that_a_process_has_open_is_that_process_to_judge(tmp_path: Path) -> None:
    path = str(tmp_path / "builder.db")
    shelf = Shelf(path)
    try:
        assert "rollup:1 builder" not in found(builder=path)
    finally:
        shelf.close()


def test_a_chain_that_cannot_be_reached_is_found() -> None:
    (finding,) = found(nodes=["ws://127.0.0.1:9"]).values()
    assert not finding.ok
    assert "its chain cannot be asked: 127.0.0.1:9 cannot be reached" in finding.what
    assert "start a node" in finding.advice


def test_a_chain_that_is_silent_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_chain: object, _service: int) -> None:
        await asyncio.sleep(5)

    monkeypatch.setattr(rollup_doctor, "LOOK_S_MAX", 0.05)
    monkeypatch.setattr(rollup_doctor, "rollup_head", never)
    (finding,) = found().values()
    assert finding.what == "its chain cannot be asked: no answer within 0.05 s"


def spoilt(rewrite: Rewrite) -> dict[str, Finding]:
    """What is found where one of three nodes, the first, is of no use."""

    async def story() -> dict[str, Finding]:
        setup = ModelSetup(nodes=3)
        setup = replace(setup, services={ROLLUP_SERVICE_DEV: rollup_service(setup)})
        async with JamDevnet(slot_ms=0, setup=setup) as devnet, Jip2Relay(devnet.urls[0]) as relay:
            devnet.step()
            relay.rewrite = rewrite
            section = table(relay.url, *devnet.urls[1:], slot_ms=SLOT_MS)
            urls.append(relay.url)
            return {one.name: one for one in await look_at(section)}

    urls: list[str] = []
    findings: dict[str, Finding] = run(story)
    for node in [one for one in findings if one.startswith("rollup:1 node ")]:
        assert node == f"rollup:1 node {urls[0]}"
        findings["bad node"] = findings.pop(node)
    return findings


def test_a_node_that_lost_what_services_keep_is_named_where_another_has_it() -> None:
    def blind(method: str, message: Json) -> Json:
        return {**message, "result": None} if method == "serviceValue" else message

    findings = spoilt(blind)
    assert [name for name, one in findings.items() if not one.ok] == ["bad node"]
    assert findings["bad node"].what == "it has no records of service 1, and other nodes have them"
    assert "name another one" in findings["bad node"].advice


def test_a_node_that_shows_another_line_of_the_service_is_named() -> None:
    def lying(method: str, message: Json) -> Json:
        is_value = method == "serviceValue" and message["result"] is not None
        return {**message, "result": blob(bytes(8))} if is_value else message

    findings = spoilt(lying)
    assert [name for name, one in findings.items() if not one.ok] == ["bad node"]
    assert findings["bad node"].what == "it shows another newest block of service 1 than the others"


def test_a_node_that_names_other_sizes_first_is_outvoted_in_the_same_look() -> None:
    asked: Counter[str] = Counter()

    def lying(method: str, message: Json) -> Json:
        result: Any = message.get("result")
        if method == "bestBlock":
            return {**message, "result": {**result, "slot": result["slot"] + 1}}
        if method == "parameters":
            asked[method] += 1
            return {**message, "result": {"V1": {**result["V1"], "core_count": 341}}}
        return message

    findings = spoilt(lying)
    assert asked["parameters"] > 0, "it was the first to be asked"
    assert all(one.ok for one in findings.values())
    assert findings["rollup:1 cores"].what == "2 of the chain's 2 cores"


def test_a_service_that_is_no_ledger_is_found() -> None:
    finding = found(service=9)["rollup:9 service"]
    assert (finding.ok, finding.what) == (False, "there is no service 9 on its chain")
    assert "`service`" in finding.advice


def test_a_service_that_takes_another_authorizer_is_not_called_the_wrong_service() -> None:
    finding = found(b"\7" * 32)["rollup:1 service"]
    assert not finding.ok
    assert "07" * 32 in finding.what
    assert finding.advice == "set `authorizer` to one of these, or its `signer` to the key of one"


def test_cores_that_the_chain_has_not_are_found() -> None:
    finding = found(cores=[5])["rollup:1 cores"]
    assert not finding.ok
    assert finding.what == "main: the chain has cores 0 to 1, and not 5"
    assert found(cores=[1])["rollup:1 cores"].what == "1 of the chain's 2 cores"


def test_a_clock_that_is_off_is_found() -> None:
    now_ms = time_ns() // 1_000_000
    # A slot zero of about now is right, and one of an hour ago is an hour off. How much may be is
    # what the lane is held to: a second here, for settings are by slots of six seconds.
    allowed = {"clock_skew_ms_max": 1_000 * 6_000 // SLOT_MS}
    assert found(calendar=now_ms, **allowed)["rollup:1 clock"].ok
    assert not found(calendar=now_ms - 3_000, **allowed)["rollup:1 clock"].ok
    assert found(calendar=now_ms - 3_000, clock_skew_ms_max=10**7)["rollup:1 clock"].ok
    late = found(calendar=now_ms - 3_600_000)["rollup:1 clock"]
    early = found(calendar=now_ms + 3_600_000)["rollup:1 clock"]
    assert (late.ok, early.ok) == (False, False)
    assert "NTP" in late.advice
    assert "heard of -35" in early.what


def test_a_node_that_falls_silent_meanwhile_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(_chain: object) -> None:
        raise ChainUnreachable("node", "away")

    monkeypatch.setattr(Jip2Chain, "clock", away)
    finding = found()["rollup:1 clock"]
    assert (finding.ok, finding.what) == (False, "node cannot be reached: away")


def test_slots_that_pass_without_a_block_are_not_waited_for_long() -> None:
    async def story() -> list[Finding]:
        async with JamDevnet(slot_ms=0) as devnet:
            return await look_at(table(devnet.url, slot_ms=SLOT_MS))

    assert all(one.ok for one in run(story))


def test_a_table_that_is_wrong_is_found() -> None:
    (finding,) = found(words=[["odd", "x"]]).values()
    assert not finding.ok
    assert "'odd' is not a valid PackageKind" in finding.what


def test_an_embedded_chain_needs_no_look() -> None:
    async def story() -> list[Finding]:
        return await look_at_all([table("devnet"), table("devnet")], BundleSection(), {})

    assert [one.ok for one in run(story)] == [True, True]
    inside = Finding("rollup:1", True, "its chain is inside the server's own process")
    store = SimpleNamespace(path="laneway.db")
    config = SimpleNamespace(
        config=SimpleNamespace(rollup=[table("devnet")], bundle=BundleSection(), store=store)
    )
    assert run(lambda: RollupKind().examine(config, {})) == [inside]
    assert RollupKind().open_nodes(config, {}) == []
