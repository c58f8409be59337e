"""A chain, deployments on it, callers, and a judge who believes none of them.

    async with Stage(folder, seed=1) as stage:
        one = await stage.deploy("one")
        stage.crowd.hire([one], count=3, window=20)
        await stage.until_blocks(20)
        await stage.finish()

The chain is in this process and outlives every deployment. A wait is for something that becomes
true, and fails only when nothing at all has moved for long.
"""

import asyncio
from asyncio import sleep
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any
from unittest.mock import patch

from msgspec import json
from msgspec.structs import replace
from tests.load.served import ServerGone
from tests.rollup_soak import CORES, FOUR
from tests.rollup_stage import digest
from tests.runners import Stalled, say
from tests.scenarios.callers import Crowd, End, Payment
from tests.scenarios.chronicle import Chronicle
from tests.scenarios.deployment import Away, Deployment

from laneway.devnets.jam.devnet import JamDevnet, rollup_service
from laneway.devnets.jam.limits import PACKAGES_KEPT_MAX, ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model import shards
from laneway.devnets.jam.model.values import ModelSetup

SLOT_MS = 150
STALL_S_MAX = 60.0
"""Hundreds of slots in which no block and no answer came."""
ANSWER_S_MAX = 60.0
"""For the final answer to one transfer while others have theirs."""
HEALTH_S_MAX = 30.0
"""For a deployment at rest to say that all is well: its probes are seconds old at most."""
SAY_EVERY_S = 2.0
MACHINE = ("sync", "space", "disk", "folder", "file system")
"""What `doctor` says of the machine that the tests run on, which may be slow."""
PROBLEMS_SHOWN = 5
OPEN_SHOWN = 3


class Stage:
    def __init__(
        self,
        folder: Path,
        *,
        seed: int = 0,
        nodes: int = 1,
        packages_kept: int = 0,
        has_weather: bool = True,
        slot_ms: int = SLOT_MS,
    ) -> None:
        self.folder = folder
        self.slot_ms = slot_ms
        self.random = Random(seed)
        self.problems: list[str] = []
        self.culprit = ""
        """The address of a node that is spoilt all the time; empty if there is none."""
        self.deployments: list[Deployment] = []
        self.packages_kept = packages_kept or PACKAGES_KEPT_MAX
        self._keeping = patch.object(shards, "PACKAGES_KEPT_MAX", self.packages_kept)
        self._has_weather = has_weather
        setup = ModelSetup(spec=FOUR, nodes=nodes)
        setup = replace(setup, services={ROLLUP_SERVICE_DEV: rollup_service(setup)})
        self.devnet = JamDevnet(slot_ms=0, setup=setup)
        self.chronicle = Chronicle(self.devnet.say)
        self.crowd = Crowd(self.devnet.model.genesis, seed)
        self._moved_s = self._said_s = monotonic()
        self._moved = (0, 0, 0)
        self._is_finished = False
        self._overdue: list[Payment] = []
        self._slots: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Stage":
        self._keeping.start()
        await self.devnet.start()
        self._slots = asyncio.create_task(self._pass_slots())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.crowd.dismiss()
        for one in self.deployments:
            await one.close()
        assert self._slots is not None
        self._slots.cancel()
        await asyncio.gather(self._slots, return_exceptions=True)
        await self.devnet.close()
        self._keeping.stop()

    # The chain.

    async def _pass_slots(self) -> None:
        loop, faults = asyncio.get_running_loop(), self.devnet.model.faults
        at_s = loop.time()
        while True:
            at_s = max(at_s + self.slot_ms / 1_000, loop.time())
            await sleep(at_s - loop.time())
            if self._has_weather:
                chance = self.random.random
                faults.withheld_cores = {core for core in range(CORES) if chance() < 0.05}
                faults.reorg_depth = self.random.randrange(1, 3) if chance() < 0.03 else 0
            self.devnet.step()
            self.chronicle.follow()

    async def outage(self, *, slots: int) -> None:
        """No node listens while so many slots of the chain pass."""
        end = self.devnet.model.slot + slots
        nodes = range(len(self.devnet.urls))
        for node in nodes:
            await self.devnet.stop_node(node)
        while self.devnet.model.slot < end:
            await sleep(self.slot_ms / 1_000)
        for node in nodes:
            await self.devnet.start_node(node)

    # Deployments.

    async def deploy(self, name: str, **more: Any) -> Deployment:
        """Another installation, configured and started."""
        made = self.prepare(name, **more)
        await made.start()
        return made

    def prepare(
        self, name: str, *, environment: dict[str, str] | None = None, **more: Any
    ) -> Deployment:
        made = Deployment(self.folder, name, environment)
        self.deployments.append(made)
        nodes = more.pop("nodes", self.devnet.urls)
        made.configure(
            nodes,
            slot_ms=self.slot_ms,
            service=ROLLUP_SERVICE_DEV,
            genesis=self.devnet.model.genesis.hex(),
            **more,
        )
        return made

    # Waiting.

    async def until(self, is_so: Callable[[], bool], what: str) -> None:
        self._moved_s = monotonic()
        while not is_so():
            await sleep(0.02)
            self._beat(what)

    async def watched(self, job: Coroutine[Any, Any, None], what: str) -> None:
        """Wait for a job, as long as anything moves."""
        task = asyncio.create_task(job)
        try:
            await self.until(task.done, what)
            task.result()
        finally:
            task.cancel()

    async def until_blocks(self, count: int) -> None:
        """Wait until the rollup has this many more final blocks."""
        end = self.chronicle.count + count
        await self.until(lambda: self.chronicle.count >= end, f"block {end}")

    async def until_ended(self, count: int) -> None:
        """Wait until this many more transfers have their final answer."""
        end = self.crowd.ended_count() + count
        await self.until(lambda: self.crowd.ended_count() >= end, f"{end} answers")

    def _beat(self, what: str) -> None:
        self.crowd.check()
        assert self._slots is not None
        if self._slots.done():
            self._slots.result()
        for one in self.deployments:
            one.check()
        now_s, moved = monotonic(), self._progress()
        if moved != self._moved:
            self._moved, self._moved_s = moved, now_s
        if now_s - self._moved_s > STALL_S_MAX:
            raise Stalled(f"nothing moved for {STALL_S_MAX:g} s, waiting for {what}: {self.show()}")
        if now_s - self._said_s > SAY_EVERY_S:
            self._said_s = now_s
            if overdue := [one for one in self.crowd.open() if one.is_older(now_s - ANSWER_S_MAX)]:
                self._overdue = overdue
                raise Stalled(
                    f"{len(overdue)} wait for more than {ANSWER_S_MAX:g} s: {self.show()}"
                )
            say(f"waiting for {what}: {self.show()}")

    def _progress(self) -> tuple[int, int, int]:
        return self.chronicle.count, self.crowd.ended_count(), self.crowd.asked_count

    def show(self) -> str:
        blocks, ended, asked = self._progress()
        return f"slot {self.devnet.model.slot}, {blocks} blocks, {asked} sent, {ended} answered"

    # The end.

    async def play(self, story: Callable[[], Awaitable[None]]) -> list[str]:
        """Run one story to its end; what was broken."""
        try:
            await story()
            if not self._is_finished:
                await self.finish()
        except (Stalled, ServerGone) as error:
            self.problems.append(str(error))
            self.problems += await self.evidence()
        self.judge()
        return self.problems + self.chronicle.problems + self.crowd.problems

    async def finish(self) -> None:
        """Let everything settle, ask for it again, and see that all say that all is well."""
        self._is_finished = True
        self.crowd.is_over.set()
        await self.until(lambda: not self.crowd.open(), "the last answers")
        for caller in self.crowd.callers:
            for one in caller.deployments:
                await self.watched(caller.ask_again(one), "the same answers")
        for one in self.deployments:
            await self.check_health(one)

    async def check_health(self, one: Deployment) -> None:
        """All that report on a deployment at rest agree: nothing is wrong with it but the node
        that the story has spoilt, and that one is named."""
        until_s = monotonic() + HEALTH_S_MAX
        while problems := await self._ill(one):
            if monotonic() > until_s:
                self.problems += problems
                break
            await sleep(0.3)
        code, words = await one.command("rollup", "status", "--url", one.url)
        if code != 0:
            self.problems.append(f"{one.name}: `rollup status` ends with {code}: {words[-300:]}")
        _, words = await one.command("doctor", "--config", str(one.config))
        bad = [line for line in words.splitlines() if line.startswith("BAD")]
        bad = [line for line in bad if not line.removeprefix("BAD").lstrip().startswith(MACHINE)]
        named = [line for line in bad if self.culprit and self.culprit in line]
        if len(bad) > len(named) or (self.culprit and not named):
            self.problems.append(f"{one.name}: of {self.culprit or 'nobody'} `doctor` says {words}")

    async def until_unwell(self, one: Deployment, part: str) -> None:
        """Wait until readiness, health, status and `doctor` all name this as what is wrong."""
        until_s = monotonic() + HEALTH_S_MAX
        while silent := [name for name, said in await self._said(one) if part not in said]:
            if monotonic() > until_s:
                self.problems.append(f"{one.name}: {', '.join(silent)} do not say {part!r}")
                break
            await sleep(0.3)

    async def _said(self, one: Deployment) -> list[tuple[str, str]]:
        """All that a deployment says of itself, by who says it."""
        try:
            ready = await one.ask("GET", "/readyz")
            health = await one.ask("GET", f"/v1/lanes/rollup:{ROLLUP_SERVICE_DEV}/health")
            _, status = await one.command("rollup", "status", "--url", one.url)
        except Away:
            return [(one.name, "")]
        _, words = await one.command("doctor", "--config", str(one.config))
        bad = [line for line in words.splitlines() if line.startswith("BAD")]
        checks = [each["what"] for each in ready.body["checks"] if not each["ok"]]
        return [
            ("readyz", " ".join(checks)),
            ("health", " ".join(health.body["problems"])),
            ("rollup status", status),
            ("doctor", " ".join(bad)),
        ]

    async def _ill(self, one: Deployment) -> list[str]:
        """What a deployment says is wrong with it."""
        try:
            ready = await one.ask("GET", "/readyz")
            status = await one.ask("GET", "/v1/rollup/pay")
            health = await one.ask("GET", f"/v1/lanes/rollup:{ROLLUP_SERVICE_DEV}/health")
        except Away:
            return [f"{one.name} does not answer"]
        found = []
        if ready.status != 200:
            found.append(f"{one.name}: /readyz says {ready.status} {ready.body}")
        if status.status != 200 or status.body["waits"]:
            found.append(f"{one.name}: its status is {status.status} {status.body}")
        elif status.body["pool"]["total"] or status.body["rollup"]["open"]:
            found.append(f"{one.name}: something is open at rest: {status.body}")
        if health.status != 200:
            return [*found, f"{one.name}: its health is {health.status} {health.body}"]
        others = [
            each for each in health.body["problems"] if not (self.culprit and self.culprit in each)
        ]
        if others or not (health.body["healthy"] or health.body["problems"]):
            found.append(f"{one.name}: its health is {health.body}")
        return found

    async def evidence(self) -> list[str]:
        """What those say that have not answered."""
        found: list[str] = []
        for one in self.deployments:
            try:
                status = await one.ask("GET", "/v1/rollup/pay")
                found.append(f"{one.name}: {json.encode(status.body).decode()[:1500]}")
                waiting = self._overdue or self.crowd.open()
                waiting = [each for each in waiting if one.name in each.ids]
                for each in waiting[:OPEN_SHOWN]:
                    shown = await one.ask("GET", f"/v1/transactions/{each.ids[one.name]}")
                    found.append(f"{one.name}: {json.encode(shown.body).decode()[:500]}")
            except Away:
                found.append(f"{one.name} does not answer")
            found += [f"{one.name} logged {line}" for line in one.warnings()[-PROBLEMS_SHOWN:]]
            found += one.last_words()
        return found

    # The judgement.

    def judge(self) -> None:
        """Each answer is true of the chain, and each promise was kept."""
        self.chronicle.close()
        broken = [
            f"{name}: transfer {one.nonce} of {one.payer} {problem}"
            for one in self.crowd.payments
            for name in one.ids
            if (problem := self._untrue(one, one.ends.get(name)))
        ]
        known = {one.raw for one in self.crowd.payments}
        foreign = [raw for raw in self.chronicle.places if raw not in known]
        if foreign:
            broken.append(f"{len(foreign)} transfers on the chain that nobody sent")
        if len(broken) > PROBLEMS_SHOWN:
            broken = [f"{len(broken)} answers are untrue or missing", *broken[:PROBLEMS_SHOWN]]
        self.problems += broken

    def _untrue(self, payment: Payment, end: End | None) -> str:
        place = self.chronicle.places.get(payment.raw)
        where = "nowhere" if place is None else f"in block {place.number} at {place.index}"
        if end is None:
            return f"has no end; it is {where}"
        if end.status == "refused" and payment.refusal and payment.refusal in end.reason:
            return "" if place is None else f"was refused, and is {where}"
        if place is None:
            return f"is {where}, and its answer is {end}"
        package, hashed = "0x" + place.package.hex(), "0x" + digest(payment.raw).hex()
        true = End("confirmed", place.number, place.index, package, hashed, end.reason)
        return "" if end == true and not payment.refusal else f"is {where}; its answer is {end}"
