"""The demo's sentences, said in the same words on a terminal and in a log."""

from laneway.wiring.demo_values import Direct, Kill, Plan, Snapshot, Surroundings, Verdict

HEAD = ("contract", "sent", "on chain", "duplicates", "conflicts", "gaps", "in order")


def plan_line(plan: Plan) -> str:
    return (
        f"{plan.contracts} contracts × {plan.executions} concurrent executions, rounds of "
        f"{plan.round_ms} ms, the worker is killed {plan.kills} times"
    )


def direct_line(direct: Direct) -> str:
    return (
        f"without the queue: {direct.sent} concurrent executions of one contract → "
        f"{direct.succeeded} success, {direct.conflicts} conflicts"
    )


def progress_line(snapshot: Snapshot) -> str:
    landed, running = sum(snapshot.landed.values()), sum(snapshot.running.values())
    return (
        f"{landed} on chain, {running} rounds running, {snapshot.answered}/{snapshot.sent} "
        f"submissions answered, worker {snapshot.worker}"
    )


def kill_line(kill: Kill) -> str:
    return (
        f"SIGKILL #{kill.number} of worker pid {kill.pid}: {kill.landed} on chain, "
        f"{kill.running} rounds running, {kill.unanswered} submissions unanswered; "
        "starting it again"
    )


def cells(verdict: Verdict) -> list[tuple[str, ...]]:
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


def verdict_lines(verdict: Verdict) -> list[str]:
    """What the table does not say, and the verdict at the end."""
    lines = [
        f"{verdict.resent} submissions sent again with the same keys, "
        f"{verdict.replayed} of them were durable already",
        f"{verdict.tries_refused} duplicate tries refused by the chain",
    ]
    if verdict.direct is not None:
        lines.append(direct_line(verdict.direct))
    if verdict.problem:
        lines.append(f"problem: {verdict.problem}")
    if not verdict.is_right():
        lines.append(f"everything is kept in {verdict.folder}")
    lines.append(last_line(verdict))
    return lines


def last_line(verdict: Verdict) -> str:
    end = f"worker killed {len(verdict.kills)} times · {verdict.seconds:.1f} s"
    if verdict.is_right():
        return f"{verdict.on_chain}/{verdict.sent} executed once, in order, no conflict · {end}"
    return f"NOT right: {verdict.on_chain} blocks for {verdict.sent} executions · {end}"


def stay_lines(around: Surroundings) -> list[str]:
    body = f'{{"token":"{around.contract}","latest":false}}'
    return [
        "Still running; Ctrl-C stops it. Meanwhile you can look at",
        f"  the chain     curl -s {around.url}/api/get-smart-contract-token-chain-data -d '{body}'",
        f"  the database  {around.database} (owned by worker pid {around.pid})",
        f"  its log       {around.log}",
    ]
