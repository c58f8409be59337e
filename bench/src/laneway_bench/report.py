"""A benchmark's table and plot, written so that the docs can show them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from laneway_bench.plot import svg


def write_report(found: Mapping[str, Any], out: Path, name: str) -> str:
    """Write `name`.json, .md and .svg under `out`; the table comes back."""
    out.mkdir(parents=True, exist_ok=True)
    text = table(found)
    (out / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n")
    (out / f"{name}.md").write_text(text)
    (out / f"{name}.svg").write_text(svg(found))
    return text


def table(found: Mapping[str, Any]) -> str:
    results = found["results"]
    lines = [
        f"# laneway bench {found['bench']}",
        "",
        machine_line(found["machine"]),
    ]
    if "fdatasync_per_s" in results:
        lines.append(f"{results['fdatasync_per_s']:,.0f} fdatasync/s (one appended page each).")
    lines.append("")
    if found.get("quick"):
        lines += ["A quick run: it shows that everything works, and its numbers are noise.", ""]
    lines += ["| goal | value | threshold | met |", "|---|---:|---:|---|"]
    for name, goal in found["goals"].items():
        met = "yes" if goal["met"] else "**no**"
        lines.append(f"| `{name}` | {number(goal['value'])} | {goal['goal']} | {met} |")
    if found["bench"] == "jam":
        return "\n".join([*lines, *jam_lines(results), ""])
    if found["bench"] == "rollup":
        return "\n".join([*lines, *rollup_lines(results), ""])
    if found["bench"] == "rollup-front":
        return "\n".join([*lines, *rollup_front_lines(results), ""])
    lines += ["", "| contestant | jobs/s | CPU µs/job | each round |", "|---|---:|---:|---|"]
    for name, rates in scenarios(results).items():
        rounds = listed(rates["rounds_jobs_per_s"])
        cpu = f"{rates['cpu_us_per_job']:,.0f}"
        lines.append(f"| {name} | {rates['jobs_per_s']:,.0f} | {cpu} | {rounds} |")
    lines += ["", "| other ratio | value |", "|---|---:|"]
    for name, value in found["ratios"].items():
        if name not in found["goals"]:
            lines.append(f"| `{name}` | {number(value)} |")
    if "backlog" in results:
        lines += ["", *memory_lines(results)]
    if "takeovers_s" in results:
        lines += ["", *fleet_lines(results)]
    if "anvil_cpu_us_per_transfer" in results:
        lines += ["", *account_lines(results)]
    if "devnet_cpu_us_per_transfer" in results:
        lines += ["", *sequence_lines(results)]
    if "recovery_us" in results:
        lines += ["", *evm_lines(results)]
    return "\n".join([*lines, ""])


def scenarios(results: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the results that are jobs a second."""
    return {
        name: result
        for name, result in results.items()
        if isinstance(result, dict) and "jobs_per_s" in result
    }


def machine_line(machine: Mapping[str, Any]) -> str:
    peers = ", ".join(f"{name} {version}" for name, version in machine["peers"].items())
    return (
        f"{machine['cores']} cores ({machine['cpu']}), Linux {machine['kernel']}, "
        f"{machine['filesystem']}, Python {machine['python']}, SQLite {machine['sqlite']}"
        f"{'; ' if peers else ''}{peers}."
    )


def memory_lines(results: Mapping[str, Any]) -> list[str]:
    backlog, idle = results["backlog"], results["idle"]
    lines = ["| backlog | CPU µs/job, each round | wall µs/job, each round |", "|---:|---|---|"]
    for waiting, wall in backlog["us_per_job"].items():
        cpu = backlog["cpu_us_per_job"][waiting]
        lines.append(f"| {int(waiting):,} | {listed(cpu)} | {listed(wall)} |")
    rss = backlog["rss_mb"]
    few, many = backlog["waiting"]
    return [
        *lines,
        "",
        f"From {few:,} to {many:,} waiting, a job's CPU time grows "
        f"{backlog['cost_growth']:.2f}-fold and its wall time {backlog['wall_growth']:.2f}-fold.",
        f"Resident memory with nothing waiting {rss['empty']:.0f} MB; "
        f"with {many:,} waiting {rss['same_process']:.0f} MB in the process that "
        f"took them, {rss['fresh_process']:.0f} MB in a fresh one.",
        f"{idle['contracts']:,} idle contracts: {idle['rss_mb']['idle']:.0f} MB, "
        f"over {idle['rss_mb']['empty']:.0f} MB for an engine with one.",
    ]


def fleet_lines(results: Mapping[str, Any]) -> list[str]:
    """What is no rate: how long the lanes of a killed process stood, who received what."""
    lines = ["| takeover after kill -9 | seconds, each time |", "|---|---|"]
    for name, times in results["takeovers_s"].items():
        lines.append(f"| {name.removeprefix('takeover_')} | {', '.join(map(str, times))} |")
    sse = results["sse"]
    heard = listed(sse["events_heard"])
    return [*lines, "", f"{sse['readers']:,} readers of events heard, in each round: {heard}."]


def account_lines(results: Mapping[str, Any]) -> list[str]:
    """What an account's lane costs beside its rate."""
    node = results["anvil_cpu_us_per_transfer"]
    shown = ", ".join(f"{name} {spent:,.0f}" for name, spent in node.items())
    lines = [f"CPU µs of the node itself for each transfer: {shown}."] if node else []
    if results["stalls"]:
        stuck = ", ".join(f"{name} {count}" for name, count in results["stalls"].items())
        lines.append(f"Runs that got stuck in the node's pool and were made again: {stuck}.")
    if (backlog := results["waiting"]) is not None:
        few, many = backlog["waiting"]
        rss = backlog["rss_mb"]
        lines.append(
            f"Resident memory with {few:,} waiting {rss['few']:.0f} MB; with {many:,} "
            f"{rss['same_process']:.0f} MB in the process that took them, "
            f"{rss['fresh_process']:.0f} MB in a fresh one."
        )
    if (decide := results["decide"]) is not None:
        lines += ["", "| in flight | CPU µs/transfer of the machine alone | by event |"]
        lines.append("|---:|---:|---|")
        for count, found in decide["us_per_transfer"].items():
            events = ", ".join(f"{name} {spent:.3g}" for name, spent in found["events"].items())
            lines.append(f"| {int(count):,} | {found['all']:.3g} | {events} |")
    return lines


def sequence_lines(results: Mapping[str, Any]) -> list[str]:
    """What Cosmos accounts' lanes cost beside their rate."""
    node = results["devnet_cpu_us_per_transfer"]
    shown = ", ".join(f"{name} {spent:,.0f}" for name, spent in node.items())
    lines = [f"CPU µs of the devnet itself for each transfer: {shown}."] if node else []
    if (held := results["bytes"]) is not None:
        rss = held["rss_mb"]
        lines.append(
            f"{held['blobs']:,} blobs of {held['blob_bytes']:,} bytes from {held['accounts']} "
            f"accounts under a cap of {held['cap_mb']:,.0f} MB, {held['blobs_per_s']:,.0f} a "
            f"second at {held['cpu_us_per_blob']:,.0f} CPU µs each: "
            f"resident memory {rss['idle']:,.0f} MB before, {rss['peak']:,.0f} MB at most, "
            f"{rss['end']:,.0f} MB afterwards."
        )
    if (commitment := results["commitment"]) is not None:
        speeds = commitment["mb_per_s"]
        lines += ["", f"| commitment of | {' MB/s | '.join(speeds)} MB/s |"]
        lines.append(f"|---:|{'---:|' * len(speeds)}")
        for size in speeds["laneway"]["sizes"]:
            numbers = " | ".join(f"{found['sizes'][size]:,.0f}" for found in speeds.values())
            lines.append(f"| {int(size) >> 10:,} KiB | {numbers} |")
    return lines


def evm_lines(results: Mapping[str, Any]) -> list[str]:
    """What is no rate of the EVM: recovery, and what a node in Rust does with the same."""
    recovery = ", ".join(f"{name} {us:,.0f}" for name, us in results["recovery_us"].items())
    lines = [f"CPU µs of decoding a transaction and recovering its sender, apart: {recovery}."]
    if results["anvil_mined_per_s"]:
        mined = ", ".join(
            f"{name} {rate:,.0f}" for name, rate in results["anvil_mined_per_s"].items()
        )
        lines.append(f"Transactions a second that anvil puts into one block, wall time: {mined}.")
    return lines


def jam_lines(results: Mapping[str, Any]) -> list[str]:
    """What a JAM chain's bytes cost."""
    lines: list[str] = []
    if "erasure" in results:
        head = "| erasure code, 342 of 1,023 | laneway MB/s | npm WASM MB/s | ratio "
        lines += ["", f"{head}| to its call alone |", "|---|---:|---:|---:|---:|"]
        for sized in results["erasure"].values():
            for work in ("encode", "decode"):
                found = sized[work]
                ours, theirs = found["laneway_mb_per_s"], found["npm_wasm_mb_per_s"]
                size = f"{sized['bytes'] >> 10:,} KiB"
                row = f"| {work} {size} | {number(ours)} | {number(theirs)} "
                alone = number(found["ratio_to_its_call_alone"])
                lines.append(f"{row}| {number(found['ratio'])} | {alone} |")
    if (votes := results.get("votes")) is not None:
        lines += [
            "",
            f"A justification of {votes['votes']} votes is verified in {votes['laneway_ms']:.3g} "
            f"CPU ms, its bare signatures by PyNaCl in {votes['pynacl_ms']:.3g}.",
        ]
    if (proofs := results.get("proofs")) is not None:
        spent = "; ".join(
            f"{int(keys):,} keys {us:.3g} µs" for keys, us in proofs["us_per_proof"].items()
        )
        lines += ["", f"A state proof, made and verified: {spent}."]
    if (model := results.get("model")) is not None:
        rates = "; ".join(
            f"{name.replace('_', ' ')} {rate:,.0f}" for name, rate in model["slots_per_s"].items()
        )
        lines += ["", f"Slots a second of the chain model, 6 validators: {rates}."]
    return lines


def rollup_lines(results: Mapping[str, Any]) -> list[str]:
    """What a rollup's lane costs, and on which chain that was seen."""
    lines: list[str] = []
    if (turns := results.get("turns")) is not None:
        spent = "; ".join(
            f"{int(count):,} kept {us:,.0f} µs" for count, us in turns["us_per_block"].items()
        )
        lines += ["", f"CPU time of a block, on a stub chain and without a store: {spent}."]
    if (finality := results.get("finality")) is not None:
        slots = finality["slots"]
        lines += [
            "",
            f"Slots to finality of {finality['blocks']:,} blocks, on the chain model with the "
            f"ledger service: {slots['min']:g} at least, {slots['median']:g} in the middle, "
            f"{slots['max']:g} at most.",
            f"From {finality['from']}, to {finality['to']}.",
        ]
    if (cores := results.get("cores")) is not None:
        first, end = cores["slots"]
        lines += [
            "",
            f"Slots {first} to {end} of {cores['cores']} cores, on the chain model with a stub "
            f"service: of {cores['pairs']:,} pairs of core and slot {cores['with_a_new_report']:,} "
            f"have a report in the block of that slot, and after it {cores['engaged']:,} cores are "
            f"engaged by one.",
            f"CPU time: the lane {cores['lane_s']:,.0f} s, the model {cores['model_s']:,.0f} s.",
        ]
    if (engine := results.get("engine")) is not None:
        clocks = "; ".join(
            f"slots of {one['slot_ms']} ms {number(one['blocks_per_s'])}"
            for one in engine["clocks"]
        )
        lines += [
            "",
            f"Blocks final a second, engine on SQLite, builder, adapter and devnet of two cores in "
            f"one process: {clocks}.",
        ]
    if (memory := results.get("memory")) is not None:
        rss = memory["rss_mb"]
        lines += [
            "",
            f"{memory['blocks']:,} blocks through one lane on a stub chain and without a store, "
            f"{memory['blocks_per_s']:,.0f} a second: resident memory {rss['warm']:.1f} MB after "
            f"the first tenth, {rss['end']:.1f} MB at the end.",
        ]
    return lines


def rollup_front_lines(results: Mapping[str, Any]) -> list[str]:
    """What a tree costs beside its goals."""
    if (ubt := results.get("ubt")) is None:
        return []
    head = "| stems | insert, s | root, s | open, s | update of 100 with root, ms | hashes of it |"
    lines = ["", head, "|---:|---:|---:|---:|---:|---:|"]
    for stems in ubt["update_ms"]:
        names = ("insert_s", "root_s", "open_s", "update_ms", "hashes")
        shown = " | ".join(number(ubt[name][stems]) for name in names)
        lines.append(f"| {int(stems):,} | {shown} |")
    clones = "; ".join(f"{int(n):,} stems {us:.2g} µs" for n, us in ubt["clone_us"].items())
    return [*lines, "", f"A snapshot, all in CPU time: {clones}."]


def listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:,.0f}" for number in numbers)


def number(value: float | None) -> str:
    return (
        "not measured" if value is None else f"{value:,.3g}" if value < 1_000 else f"{value:,.0f}"
    )
