"""Those who send transfers to deployments, and keep asking until they have a final answer.

A caller signs the transfers of one account. What it was promised it hands in again, the same bytes
in their order, whenever the process it spoke to began another life. An answer that is final must
stay what it is, whoever asks and however often.
"""

import asyncio
from asyncio import sleep
from collections.abc import Sequence
from random import Random
from time import monotonic
from typing import Any

from msgspec import Struct, field
from tests.rollup_stage import digest
from tests.runners import Stalled
from tests.scenarios.deployment import Away, Deployment

from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.transfer import TRANSFER, signed

WAIT_S = 5
PAUSE_S = 0.05
LATER = (429, 503)
LATER_S_MAX = 60.0
"""For a deployment that asks to be asked later."""
SENDS = "/v1/rollup/pay/transactions"


class Payment(Struct, eq=False):
    """One transfer, and what each deployment that was given it answered."""

    raw: bytes
    payer: int
    nonce: int
    refusal: str = ""
    """Why it has to be refused; empty if it has to be confirmed."""
    is_turned_away: bool = False
    """It was refused at the door, which is a problem of its own."""
    accepted_s: float = 0.0
    """When it was accepted first."""
    ids: dict[str, str] = field(default_factory=dict)
    """By the names of the deployments that accepted it."""
    ends: dict[str, "End"] = field(default_factory=dict)

    def is_older(self, than_s: float) -> bool:
        """Whether it was accepted before this moment."""
        return 0 < self.accepted_s < than_s


class End(Struct, frozen=True):
    """A final answer."""

    status: str
    block: int | None
    index: int | None
    package: str | None
    hash: str | None
    reason: str

    @staticmethod
    def of(body: Any) -> "End":
        rollup = body["rollup"] or {}
        return End(
            body["status"],
            body["block"],
            rollup.get("index"),
            rollup.get("package"),
            body["hash"],
            body["reason"],
        )


class Crowd:
    """All callers, and what went wrong for any of them."""

    def __init__(self, genesis: bytes, seed: int) -> None:
        self.domain = Domain(genesis, ROLLUP_SERVICE_DEV)
        self.random = Random(seed)
        self.callers: list[Caller] = []
        self.payments: list[Payment] = []
        self.problems: list[str] = []
        self.asked_count = 0
        """Transfers that were handed in, the same ones again too."""
        self.is_over = asyncio.Event()
        """No new transfers are signed any more."""
        self._tasks: list[asyncio.Task[None]] = []

    def hire(self, deployments: Sequence[Deployment], *, count: int, window: int) -> None:
        """Callers that give each of their transfers to all of these."""
        for _ in range(count):
            caller = self.caller(deployments, window)
            self._tasks += [asyncio.create_task(one) for one in caller.jobs()]

    def caller(self, deployments: Sequence[Deployment], window: int = 0) -> "Caller":
        """One that sends nothing by itself."""
        made = Caller(self, len(self.callers), deployments, window)
        self.callers.append(made)
        return made

    def ended_count(self) -> int:
        return sum(len(one.ends) for one in self.payments)

    def open(self) -> list[Payment]:
        """Transfers that lack an answer; one that is being handed in has none yet."""
        left = [one for one in self.payments if not one.is_turned_away]
        return [one for one in left if len(one.ends) < len(one.ids) or not one.ids]

    def check(self) -> None:
        """Raise what a caller's task died of."""
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def dismiss(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class Caller:
    def __init__(
        self, crowd: Crowd, place: int, deployments: Sequence[Deployment], window: int
    ) -> None:
        self._crowd = crowd
        self._place = place
        self._account = DEV_ACCOUNTS[place]
        self.deployments = deployments
        self._window = window
        self.payments: list[Payment] = []
        self._nonce = 0
        self._lives = {one.name: one.lives for one in deployments}
        self._turn = {one.name: asyncio.Lock() for one in deployments}
        """Transfers go to a deployment one by one, in the order of their nonces."""

    def jobs(self) -> list[Any]:
        return [self._spend(), *(self._follow(one) for one in self.deployments)]

    def next(self, amount: int | None = None, refusal: str = "") -> Payment:
        """A transfer that is signed; the nonce of one that will be refused is used again."""
        crowd, nonce = self._crowd, self._nonce
        raw = TRANSFER.encode(
            signed(
                self._account.key,
                crowd.domain,
                recipient=crowd.random.choice(DEV_ACCOUNTS).id,
                amount=crowd.random.randrange(1, 500) if amount is None else amount,
                nonce=nonce,
            )
        )
        self._nonce += not refusal
        made = Payment(raw, self._place, nonce, refusal)
        self.payments.append(made)
        crowd.payments.append(made)
        return made

    async def _spend(self) -> None:
        crowd = self._crowd
        while not crowd.is_over.is_set():
            waiting = sum(len(one.ends) < len(self.deployments) for one in self.payments[-200:])
            if waiting >= self._window:
                await sleep(PAUSE_S)
                continue
            payment = self.next()
            await asyncio.gather(*(self._give(one, payment) for one in self.deployments))

    async def pay(self, amount: int, refusal: str = "") -> None:
        """One transfer, up to its end at all deployments."""
        payment = self.next(amount, refusal)
        for one in self.deployments:
            await self.hand_in(one, payment)
        for one in self.deployments:
            if one.name in payment.ids:
                payment.ends[one.name] = await self.end_of(one, payment)

    async def _give(self, to: Deployment, payment: Payment) -> None:
        async with self._turn[to.name]:
            await self._renew(to)
            await self.hand_in(to, payment)

    async def _renew(self, to: Deployment) -> None:
        """Hand in again what has no end yet, if the process is another one."""
        while self._lives[to.name] != to.lives:
            self._lives[to.name] = to.lives
            for one in self.payments:
                if to.name in one.ids and to.name not in one.ends:
                    await self.hand_in(to, one)

    async def hand_in(self, to: Deployment, payment: Payment) -> None:
        """Until it is accepted; Stalled if it is put off for too long."""
        begun_s = monotonic()
        while True:
            try:
                answer = await to.ask("POST", SENDS, {"raw": "0x" + payment.raw.hex()})
            except Away:
                continue
            self._crowd.asked_count += 1
            if answer.status in (200, 202):
                payment.accepted_s = payment.accepted_s or monotonic()
                known = payment.ids.setdefault(to.name, answer.body["id"])
                if known != answer.body["id"]:
                    self._crowd.problems.append(f"{self._of(to, payment)} has two intents")
                return
            if answer.status not in LATER:
                problem = f"{self._of(to, payment)} was answered {answer.status} {answer.body}"
                self._crowd.problems.append(problem)
                payment.is_turned_away = True
                return
            if monotonic() - begun_s > LATER_S_MAX:
                problem = f"{self._of(to, payment)} is put off for {LATER_S_MAX:g} s: {answer}"
                self._crowd.problems.append(problem)
                raise Stalled(problem)
            await sleep(PAUSE_S)

    async def _follow(self, to: Deployment) -> None:
        """The final answers of one deployment, in the order of the transfers."""
        place = 0
        while True:
            if place >= len(self.payments) or to.name not in self.payments[place].ids:
                await sleep(PAUSE_S)
                continue
            payment = self.payments[place]
            payment.ends[to.name] = await self.end_of(to, payment)
            place += 1

    async def end_of(self, to: Deployment, payment: Payment) -> End:
        path = f"/v1/transactions/{payment.ids[to.name]}?wait=confirmed&timeout={WAIT_S}"
        while True:
            try:
                answer = await to.ask("GET", path)
            except Away:
                continue
            if answer.status == 404:
                # Its database is older than the promise.
                async with self._turn[to.name]:
                    await self._renew(to)
                    await self.hand_in(to, payment)
            elif answer.status == 200 and answer.body["final"]:
                return End.of(answer.body)
            elif answer.status != 200:
                problem = f"{self._of(to, payment)} is asked for, and it says {answer}"
                if answer.status not in LATER:
                    raise Stalled(problem)
                await sleep(PAUSE_S)

    async def ask_again(self, to: Deployment) -> None:
        """Hand in once more what was confirmed; each is answered as it was before. What was
        refused would be tried again."""
        for one in self.payments:
            if to.name not in one.ends or one.refusal:
                continue
            await self.hand_in(to, one)
            end = await self.end_of(to, one)
            if end != one.ends[to.name]:
                problem = f"{self._of(to, one)} was {one.ends[to.name]} and is {end} now"
                self._crowd.problems.append(problem)

    def _of(self, to: Deployment, payment: Payment) -> str:
        hashed = digest(payment.raw).hex()[:8]
        return f"{to.name}: transfer {payment.nonce} of account {payment.payer} ({hashed})"
