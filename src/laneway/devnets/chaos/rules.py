"""Rules of misbehaviour: which calls they strike, and when. The same seed strikes the same calls.

A rule is written as `FAULT name=value …`, or as an object of a JSON file.
"""

import shlex
from collections.abc import Sequence
from enum import Enum
from fnmatch import fnmatchcase
from random import Random

from msgspec import DecodeError, Struct, ValidationError, convert, json

from laneway.core.errors import BadRequest
from laneway.devnets.chaos.limits import DELAY_MS_MAX, LAG_BLOCKS_MAX, RULES_COUNT_MAX


class ProxyFault(Enum):
    LOSE_ANSWER = "lose_answer"
    """The node receives it; the connection is cut before its answer comes back."""
    LOSE_REQUEST = "lose_request"
    """The connection is cut, and the node receives nothing."""
    HANG = "hang"
    """Nothing is passed on and nothing is answered."""
    HANG_ANSWER = "hang_answer"
    """The node receives it; its answer never comes, and the connection stays."""
    DELAY = "delay"
    """`ms` before the node receives it."""
    DUPLICATE = "duplicate"
    """The node receives it twice; the second answer comes back."""
    STATUS = "status"
    """An HTTP status of the proxy's own, with `retry_after_s`; the node receives nothing."""
    ERROR = "error"
    """A JSON-RPC error with `code` and `message`; the node receives it only with `forward`."""
    LIE = "lie"
    """A result of the proxy's own, `result` as JSON; the node receives it only with `forward`."""
    LAG = "lag"
    """Answers as the node would have been `blocks` ago, or at block `at`."""


INVENTED_FAULTS = (ProxyFault.ERROR, ProxyFault.LIE)
WHOLE_FAULTS = tuple(
    fault for fault in ProxyFault if fault not in (*INVENTED_FAULTS, ProxyFault.LAG)
)
"""What strikes one call of a batch strikes the whole request."""


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    fault: ProxyFault
    method: str = "*"
    """A pattern as of file names."""
    probability: float = 1.0
    nth: int = 1
    """The first of the fitting calls that may be struck."""
    count: int | None = None
    """How many are struck at most."""
    ms: int = 1_000
    status: int = 429
    retry_after_s: int | None = None
    code: int = -32000
    message: str = "invented by a rule"
    result: str = "null"
    forward: bool = False
    blocks: int = 1
    at: int | None = None


class Dice:
    """Decides call by call. Every rule has a die of its own, so one does not disturb another."""

    def __init__(self, rules: Sequence[Rule] = (), seed: int = 0) -> None:
        if len(rules) > RULES_COUNT_MAX:
            raise BadRequest("rules", f"at most {RULES_COUNT_MAX}")
        self.rules = tuple(rules)
        self.struck = [0] * len(self.rules)
        """How often each rule struck."""
        self._fitting = [0] * len(self.rules)
        self._random = [Random(f"{seed}:{place}") for place in range(len(self.rules))]

    def strike(self, method: str) -> Rule | None:
        """The first rule that strikes this call; every fitting rule takes note of it."""
        chosen: Rule | None = None
        for place, rule in enumerate(self.rules):
            if not fnmatchcase(method, rule.method):
                continue
            self._fitting[place] += 1
            # The die is thrown for every fitting call, so that a seed means one story.
            hit = self._random[place].random() < rule.probability
            used_up = rule.count is not None and self.struck[place] >= rule.count
            if chosen is None and hit and not used_up and self._fitting[place] >= rule.nth:
                self.struck[place] += 1
                chosen = rule
        return chosen


def read_rule(text: str) -> Rule:
    """`lose_answer method=eth_sendRawTransaction probability=0.1 count=3`."""
    try:
        fault, *pairs = shlex.split(text)
        named = dict(pair.split("=", 1) for pair in pairs)
    except ValueError as error:
        raise BadRequest("rule", f"{text!r} is not FAULT name=value …") from error
    return checked({"fault": fault, **named}, strict=False)


def read_rules(content: bytes) -> tuple[Rule, ...]:
    """A JSON list of rules."""
    try:
        listed = json.decode(content, type=list[dict[str, object]])
    except DecodeError as error:
        raise BadRequest("rules", f"not a list of rules: {error}") from error
    return tuple(checked(named, strict=True) for named in listed)


def checked(named: dict[str, object] | dict[str, str], *, strict: bool) -> Rule:
    try:
        rule = convert(named, Rule, strict=strict)
    except ValidationError as error:
        raise BadRequest("rule", str(error)) from error
    try:
        json.decode(rule.result)
    except DecodeError as error:
        raise BadRequest("rule", f"result is {rule.result!r}, which is not JSON") from error
    for name, low, high in (
        ("probability", 0, 1),
        ("nth", 1, None),
        ("count", 0, None),
        ("ms", 0, DELAY_MS_MAX),
        ("status", 400, 599),
        ("retry_after_s", 0, None),
        ("blocks", 0, LAG_BLOCKS_MAX),
        ("at", 0, None),
    ):
        value = getattr(rule, name)
        if value is not None and (value < low or (high is not None and value > high)):
            raise BadRequest("rule", f"{name} is {value}, outside of {low} to {high or 'any'}")
    return rule
