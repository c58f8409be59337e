"""The demo's sentences, the same on a terminal and in a log."""

from laneway.demo.values import (
    DemoPlan,
    DemoSnapshot,
    DemoVerdict,
    Direct,
    Kill,
    Naive,
    PaymentRow,
    Surroundings,
)

HEAD = ("contract", "sent", "on chain", "duplicates", "conflicts", "gaps", "in order")
PAYMENTS_HEAD = ("account", "accepted", "mined once", "twice", "lost", "nonces", "in order")


def plan_line(plan: DemoPlan) -> str:
    return (
        f"{plan.contracts} contracts × {plan.executions} concurrent executions, rounds of "
        f"{plan.round_ms} ms, the worker is killed {plan.kills} times"
    )


def node_line(plan: DemoPlan, node: str) -> str:
    if not node:
        return "no EVM accounts here: their curve is an extra, pip install 'laneway[evm]'"
    return (
        f"{plan.accounts} EVM accounts × {plan.payments} payments on {node}, blocks of "
        f"{plan.block_ms} ms, some of the node's answers are lost"
    )


def naive_line(naive: Naive) -> str:
    return (
        f"without laneway: {naive.sent} payments by a sender that reads the nonce again when an "
        f"answer is lost, {naive.answers_lost} lost → {naive.mined} mined, {naive.twice} paid twice"
    )


def direct_line(direct: Direct) -> str:
    return (
        f"without the queue: {direct.sent} concurrent executions of one contract → "
        f"{direct.succeeded} success, {direct.conflicts} conflicts"
    )


def progress_line(snapshot: DemoSnapshot) -> str:
    landed, running = sum(snapshot.landed.values()), sum(snapshot.running.values())
    paid = f"{sum(snapshot.paid.values())} payments mined, " if snapshot.paid else ""
    return (
        f"{landed} on chain, {running} rounds running, {paid}{snapshot.answered}/{snapshot.sent} "
        f"submissions answered, worker {snapshot.worker}"
    )


def kill_line(kill: Kill) -> str:
    return (
        f"SIGKILL #{kill.number} of worker pid {kill.pid}: {kill.landed} on chain, "
        f"{kill.running} rounds running, {kill.unmined} payments on their way, "
        f"{kill.unanswered} submissions unanswered; starting it again"
    )


def cells(verdict: DemoVerdict) -> list[tuple[str, ...]]:
    return [
        (
            row.contract,
            str(row.sent),
            str(row.on_chain),
            str(row.duplicates),
            str(row.conflicts),
            str(row.gaps),
            "yes" if row.in_order else "NO",
        )
        for row in verdict.rows
    ]


def payment_cells(verdict: DemoVerdict) -> list[tuple[str, ...]]:
    return [
        (
            row.account,
            str(row.accepted),
            str(row.once),
            str(row.twice),
            str(row.lost),
            nonces_cell(row),
            "yes" if row.in_order else "NO",
        )
        for row in verdict.payments
    ]


def nonces_cell(row: PaymentRow) -> str:
    if not row.nonces:
        return "none"
    return f"0–{row.nonces - 1} dense" if row.dense else "NOT dense"


def verdict_lines(verdict: DemoVerdict) -> list[str]:
    """What the table does not say, and the verdict at the end."""
    lines = [
        f"{verdict.resent} submissions sent again with the same keys, "
        f"{verdict.replayed} of them were durable already",
        f"{verdict.tries_refused} duplicate tries refused by the chain",
    ]
    if verdict.direct is not None:
        lines.append(direct_line(verdict.direct))
    if verdict.naive is not None:
        lines.append(naive_line(verdict.naive))
    if verdict.payments:
        lines.append(payments_line(verdict))
    if verdict.problem:
        lines.append(f"problem: {verdict.problem}")
    if not verdict.is_right():
        lines.append(f"everything is kept in {verdict.folder}")
    lines.append(last_line(verdict))
    return lines


def payments_line(verdict: DemoVerdict) -> str:
    rows = verdict.payments
    once, accepted = sum(row.once for row in rows), sum(row.accepted for row in rows)
    if not all(row.is_right() for row in rows):
        return f"payments NOT right: {once} of {accepted} mined once on {verdict.node}"
    return (
        f"{once}/{accepted} payments mined once on {verdict.node}, in order, no gap, nonces dense "
        f"· {verdict.answers_lost} answers lost on the way"
    )


def last_line(verdict: DemoVerdict) -> str:
    end = f"worker killed {len(verdict.kills)} times · {verdict.seconds:.1f} s"
    if verdict.is_right():
        return f"{verdict.on_chain}/{verdict.sent} executed once, in order, no conflict · {end}"
    return f"NOT right: {verdict.on_chain} blocks for {verdict.sent} executions · {end}"


def stay_lines(around: Surroundings) -> list[str]:
    body = f'{{"token":"{around.contract}","latest":false}}'
    lines = [
        "Still running; Ctrl-C stops it. Meanwhile you can look at",
        f"  the chain     curl -s {around.url}/api/get-smart-contract-token-chain-data -d '{body}'",
        f"  the database  {around.database} (owned by worker pid {around.pid})",
        f"  its log       {around.log}",
    ]
    if around.node:
        asked = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["latest",true]}'
        header = "-H 'Content-Type: application/json'"
        lines.insert(2, f"  EVM chain     curl -s {header} {around.node} -d '{asked}'")
    return lines
