"""A plot written by hand: bars of jobs a second on a logarithmic axis, and the goals below."""

from collections.abc import Mapping
from html import escape
from math import ceil, floor, log10
from typing import Any

WIDTH = 860
LEFT = 190
RIGHT = 90
BAR = 20
ROW = 30
TOP = 64

OURS = "#2f6fde"
THEIRS = "#9aa3b2"
BOUND = "#c9ced8"
MET = "#1a7f37"
MISSED = "#c1272d"

LABELS = {
    "laneway_1": "laneway, 1 contract",
    "laneway_100": "laneway, 100 contracts",
    "laneway_100_coroutine": "the same, by coroutines",
    "laneway_10000": "laneway, 10,000 contracts",
    "huey": "huey, 1 worker",
    "procrastinate": "procrastinate, 100 locks",
    "raw": "raw loop",
    "raw_merged": "raw loop, commits merged",
    "bare_commits": "bare commits, 2 a job",
    "http_enqueue": "laneway over HTTP",
    "http_execute": "the same, executed",
    "http_execute_sse": "the same, 1,000 readers",
    "bare_aiohttp": "bare aiohttp, group commit",
    "laneway_sqlite": "laneway on SQLite",
    "laneway_redis": "laneway on Redis",
    "arq": "arq on Redis, no order",
    "saq": "SAQ on Redis, no order",
    "viem": "viem, nonceManager",
    "viem_batched": "viem, set to batch",
    "ethers": "ethers, NonceManager",
    "web3py": "web3.py, one by one",
    "web3py_gather": "web3.py, 100 at once",
    "raw_1_line": "raw, one connection",
    "sign_encode_post": "sign, encode, post",
    "cosmjs": "cosmjs, one by one",
    "cosmjs_by_hand": "cosmjs, counted by hand",
    "cosmpy": "cosmpy, one by one",
    "laneway_postgres": "laneway on PostgreSQL",
    "fleet_1": "1 process, PostgreSQL",
    "fleet_3": "3 processes, PostgreSQL",
    "transfers_laneway": "transfers, laneway",
    "transfers_eels": "transfers, EELS",
    "transfers_pyevm": "transfers, py-evm",
    "transfers_ethereumjs": "transfers, ethereumjs",
    "erc20_fast": "ERC-20, laneway",
    "erc20_interpreted": "ERC-20, interpreted",
    "erc20_eels": "ERC-20, EELS",
    "erc20_pyevm": "ERC-20, py-evm",
    "erc20_ethereumjs": "ERC-20, ethereumjs",
    "swap_fast": "swap, laneway",
    "swap_interpreted": "swap, interpreted",
    "swap_eels": "swap, EELS",
    "swap_pyevm": "swap, py-evm",
    "swap_ethereumjs": "swap, ethereumjs",
}
"""In the order of the bars."""


TITLES = {
    "eoa": "Transfers from one account a second, each in a block",
    "sequence": "Transfers from one Cosmos account a second, each in a block",
    "rollup": "What a rollup's lane costs, and how much of a chain it uses",
    "rollup-front": "What stands before and behind a rollup's queue",
    "evm": "EVM transactions a second of one core",
    "jam": "What a JAM chain's bytes cost, against the peers of the same run",
}
"""What is counted, where it is no execution of a contract."""

OUR_NAMES = ("laneway", "http", "fleet")
OUR_ENDS = ("_laneway", "_fast", "_interpreted")


class Axis:
    """Jobs a second to a place on the page, by powers of ten."""

    def __init__(self, rates: list[float]) -> None:
        self.low = floor(log10(min(rates)))
        self.high = max(ceil(log10(max(rates))), self.low + 1)

    def x(self, rate: float) -> float:
        part = (log10(rate) - self.low) / (self.high - self.low)
        return LEFT + part * (WIDTH - LEFT - RIGHT)


def svg(found: Mapping[str, Any]) -> str:
    rates = {
        name: found["results"][name]["jobs_per_s"] for name in LABELS if name in found["results"]
    }
    bars = bar_lines(rates) if rates else []
    goals_top = TOP + ROW * len(rates) + 56
    height = goals_top + 24 * (len(found["goals"]) + 1) + 16
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="system-ui, sans-serif" font-size="13">'
    )
    what = TITLES.get(found.get("bench", ""), "Durable no-op executions a second")
    title = f"{what} (log scale; medians of interleaved rounds)" if rates else what
    return "\n".join(
        [
            head,
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            text(16, 28, title, size=16, weight=600),
            *bars,
            *goal_lines(found["goals"], goals_top),
            "</svg>",
            "",
        ]
    )


def bar_lines(rates: Mapping[str, float]) -> list[str]:
    axis = Axis(list(rates.values()))
    bottom = TOP + ROW * len(rates)
    lines = []
    for power in range(axis.low, axis.high + 1):
        x = axis.x(10**power)
        lines.append(
            f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="#e4e7ec"/>'
        )
        lines.append(text(x, bottom + 16, f"{10**power:,}", anchor="middle", fill="#667085"))
    for place, (name, rate) in enumerate(rates.items()):
        y = TOP + ROW * place
        fill = OURS if name.startswith(OUR_NAMES) or name.endswith(OUR_ENDS) else THEIRS
        fill = BOUND if name.startswith(("raw", "bare", "sign")) else fill
        width = max(1.0, axis.x(rate) - LEFT)
        lines.append(text(LEFT - 10, y + 15, LABELS[name], anchor="end"))
        lines.append(
            f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{fill}"/>'
        )
        lines.append(text(LEFT + width + 6, y + 15, f"{rate:,.0f}"))
    return lines


def goal_lines(goals: Mapping[str, Any], top: int) -> list[str]:
    columns = (16, 400, 520, 640)
    heads = ("goal", "value", "threshold", "met")
    lines = [text(x, top, word, weight=600) for x, word in zip(columns, heads, strict=True)]
    for place, (name, goal) in enumerate(goals.items(), start=1):
        y = top + 24 * place
        value = "not measured" if goal["value"] is None else f"{goal['value']:,.3g}"
        lines.append(text(columns[0], y, name))
        lines.append(text(columns[1], y, value))
        lines.append(text(columns[2], y, goal["goal"]))
        word, fill = ("yes", MET) if goal["met"] else ("no", MISSED)
        lines.append(text(columns[3], y, word, fill=fill, weight=600))
    return lines


def text(
    x: float,
    y: float,
    content: str,
    *,
    anchor: str = "start",
    fill: str = "#1d2433",
    size: int = 13,
    weight: int = 400,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}" fill="{fill}" font-size="{size}" '
        f'font-weight="{weight}">{escape(content)}</text>'
    )
